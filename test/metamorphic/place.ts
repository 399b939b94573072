/**
 * Where a recipient is in a ring or on a line, by a ray along its meridian to the north: another way
 * than that of the service and of the oracle. Doubles decide what is clear, exact decimals the rest.
 *
 * @module
 */
import { isFine } from './exact.js'
import { type ExactPath, exactPath, exactPlace, type Place, type ReadPath } from './exact-place.js'
import type { Reading } from './reading.js'
import type { Path } from './shape.js'

export const TURN_UNITS = 3_600_000_000
/** What a vertex with more than seven decimals may be off by. */
const ROUNDING_UNITS = 2 ** -18
/** Doubles do not decide what is nearer than this to a vertex or an edge that is not whole. */
const CLEAR_UNITS = 1e-2

export interface PlacedPath extends ReadPath {
  /** Continuous, in units, with the first vertex again at the end of a ring. */
  readonly lngs: Float64Array
  readonly lats: Float64Array
  readonly minLng: number
  readonly maxLng: number
  readonly minLat: number
  readonly maxLat: number
  /** Computed when it is needed first. */
  exact: ExactPath | undefined
}

export function placedPath(path: Path, reading: Reading, isRing: boolean): PlacedPath {
  const all = isRing ? [...path, path[0]] : path
  const turnOf = (i: number) => (i < path.length ? reading.turns[i] : reading.turn)
  const lngs = Float64Array.from(all, ([lng], i) => units(lng) + turnOf(i) * TURN_UNITS)
  const lats = Float64Array.from(all, ([, lat]) => units(lat))
  const errors = Float64Array.from(all, ([lng, lat], i) =>
    isFine(lng) || isFine(lat) ? roundingOf(lngs[i]) : 0,
  )
  return {
    path,
    reading,
    lngs,
    lats,
    errors,
    minLng: Math.min(...lngs),
    maxLng: Math.max(...lngs),
    minLat: Math.min(...lats),
    maxLat: Math.max(...lats),
    isRing,
    exact: undefined,
  }
}

/** What a fine vertex at a longitude may be off by, in units. */
export function roundingOf(lngUnits: number): number {
  return ROUNDING_UNITS + Math.abs(lngUnits) * (Math.abs(lngUnits) > 1e10 ? 2 ** -50 : 0)
}

/** Turns by which to move a recipient so that it meets the path. */
export function turnsOnto(
  { minLng, maxLng }: PlacedPath,
  lng: number,
): [first: number, last: number] {
  const margin = 2 + roundingOf(Math.max(-minLng, maxLng))
  return [
    Math.ceil((minLng - margin - lng) / TURN_UNITS),
    Math.floor((maxLng + margin - lng) / TURN_UNITS),
  ]
}

export function placeIn(placed: PlacedPath, lng: number, lat: number): Place {
  const { turn, pole } = placed.reading
  if (turn === 0 && (lat < placed.minLat - 1 || lat > placed.maxLat + 1)) return 'outside'
  const [first, last] = turnsOnto(placed, lng)
  // A ray to the north ends at that pole, which is inside or not.
  let isInside = turn !== 0 && pole > 0
  const found = new Set<Place>()
  for (let k = first; k <= last; k++) {
    const place = placeAt(placed, lng + k * TURN_UNITS, lat)
    if (turn === 0) found.add(place)
    else if (place === 'interior') isInside = !isInside
    else if (place !== 'outside') found.add(place)
  }
  if (turn !== 0) {
    if (found.has('boundary')) return 'boundary'
    return found.has('unsure') ? 'unsure' : isInside ? 'interior' : 'outside'
  }
  if (found.has('interior')) return 'interior'
  if (found.has('unsure')) return 'unsure'
  return found.has('boundary') ? 'boundary' : 'outside'
}

/** `interior` where an odd number of edges lies to the north. */
function placeAt(placed: PlacedPath, x: number, y: number): Place {
  const { lngs, lats, errors } = placed
  let isOdd = false
  for (let a = 0, b = 1; b < lngs.length; a = b, b++) {
    const error = Math.max(errors[a], errors[b])
    const [left, right] = lngs[a] < lngs[b] ? [a, b] : [b, a]
    const clear = error === 0 ? 0 : CLEAR_UNITS + 8 * error
    // As differences, which are exact: many turns away a sum would be rounded past the next test.
    if (x - lngs[right] > clear || lngs[left] - x > clear) continue
    if (Math.abs(lngs[a] - x) <= clear || Math.abs(lngs[b] - x) <= clear) {
      const isAbove = Math.min(lats[a], lats[b]) > y + 1
      const isBelow = Math.max(lats[a], lats[b]) < y - 1
      // Of the ends only the eastern one is of the edge; beside fine ones decimals say where it is.
      if (clear === 0 && isBelow) continue
      if (clear > 0 || !isAbove) return exactPlaceAt(placed, x, y)
      if (lngs[left] < x && lngs[right] === x) isOdd = !isOdd
      continue
    }
    const [dx, dy] = [lngs[right] - lngs[left], lats[right] - lats[left]]
    const [px, py] = [x - lngs[left], y - lats[left]]
    const above = dy * px - dx * py
    const doubt = (Math.abs(dy * px) + Math.abs(dx * py)) * 2 ** -49 + clear * (dx + Math.abs(dy))
    if (Math.abs(above) <= doubt) return exactPlaceAt(placed, x, y)
    if (above > 0) isOdd = !isOdd
  }
  return isOdd && placed.isRing ? 'interior' : 'outside'
}

function exactPlaceAt(placed: PlacedPath, x: number, y: number): Place {
  placed.exact ??= exactPath(placed)
  return exactPlace(placed.exact, x, y)
}

function units(degrees: number): number {
  return isFine(degrees) ? degrees * 1e7 : Math.round(degrees * 1e7)
}
