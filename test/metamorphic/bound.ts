/**
 * Nobody is inside who is farther from what was drawn than it is known to: the answer to a shape
 * itself, held against where each recipient is.
 *
 * @module
 */
import type { Asked } from './ask.js'
import { type PlacedPath, placedPath, placeIn } from './place.js'
import { readPath } from './reading.js'
import type { Shape, Vertex } from './shape.js'

/** The rings of each polygon, or each line; empty for points, and for what has no one meaning. */
export type PlacedParts = readonly (readonly PlacedPath[])[]

export function placedParts({ kind, parts }: Shape): PlacedParts {
  return parts.map((part) =>
    part.flatMap((path) => {
      const reading = kind === 'points' ? undefined : readPath(path, kind === 'polygons')
      return reading === undefined ? [] : [placedPath(path, reading, kind === 'polygons')]
    }),
  )
}

/** Recipients of whom the answer is wrong, by their index. */
export function wronglyAnswered(
  shape: Shape,
  parts: PlacedParts,
  { lngs, lats }: Asked,
  selected: Uint8Array,
): number[] {
  const wrong: number[] = []
  for (let i = 0; i < selected.length; i++) {
    const drawn = placeInParts(parts, shape, lngs[i], lats[i])
    const expected = shape.metres === undefined ? drawn : withMargin(shape, drawn, lngs[i], lats[i])
    if (expected !== 'unsure' && (expected === 'inside') !== (selected[i] === 1)) wrong.push(i)
  }
  return wrong
}

type Verdict = 'inside' | 'outside' | 'unsure'

function placeInParts(parts: PlacedParts, { kind }: Shape, lng: number, lat: number): Verdict {
  let verdict: Verdict = 'outside'
  for (const paths of parts) {
    const found = kind === 'polygons' ? inPolygon(paths, lng, lat) : onPaths(paths, lng, lat)
    if (found === 'inside') return 'inside'
    if (found === 'unsure') verdict = 'unsure'
  }
  return verdict
}

/** Who is on the edge of a hole is inside. */
function inPolygon([shell, ...holes]: readonly PlacedPath[], lng: number, lat: number): Verdict {
  const place = placeIn(shell, lng, lat)
  if (place === 'outside') return 'outside'
  const cuts = holes.map((hole) => placeIn(hole, lng, lat))
  if (cuts.includes('interior')) return 'outside'
  return place === 'unsure' || cuts.includes('unsure') ? 'unsure' : 'inside'
}

function onPaths(paths: readonly PlacedPath[], lng: number, lat: number): Verdict {
  const places = paths.map((path) => placeIn(path, lng, lat))
  if (places.includes('boundary')) return 'inside'
  return places.includes('unsure') ? 'unsure' : 'outside'
}

const DOUBT_METRES = 0.02

/** Of a circle where it ends; of other shapes only whom they hold, and who is far from all vertices. */
function withMargin(shape: Shape, drawn: Verdict, lng: number, lat: number): Verdict {
  const { metres = 0, kind, parts } = shape
  // A corridor runs along great circles, and may leave the line as it is drawn.
  if (drawn === 'inside' && kind !== 'lines') return 'inside'
  const paths = parts.flat()
  const nearest = Math.min(
    ...paths.flatMap((path) => path.map((vertex) => metresBetween(vertex, [lng / 1e7, lat / 1e7]))),
  )
  // Of a shell and its holes some edges are not of the polygon, and have no margin.
  const isWhole = parts.every((part) => part.length === 1)
  if (isWhole && nearest < metres - DOUBT_METRES) return 'inside'
  const longest = kind === 'points' ? 0 : Math.max(...paths.map(longestEdgeMetres))
  return nearest > metres + longest / 2 + DOUBT_METRES ? 'outside' : 'unsure'
}

const EARTH_METRES = 6_371_000

function metresBetween([lngA, latA]: Vertex, [lngB, latB]: Vertex): number {
  const radians = Math.PI / 180
  const north = Math.sin(((latB - latA) * radians) / 2) ** 2
  const east = Math.sin(((lngB - lngA) * radians) / 2) ** 2
  const share = north + Math.cos(latA * radians) * Math.cos(latB * radians) * east
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(share)))
}

/** At least as long as an edge, also as it is drawn, straight in longitude and latitude. */
function longestEdgeMetres(path: readonly Vertex[]): number {
  const lengths = path.map(([lng, lat], i) => {
    const [nextLng, nextLat] = path[(i + 1) % path.length]
    const way = Math.abs(nextLng - lng) % 360
    return Math.hypot(Math.min(way, 360 - way), nextLat - lat) * 111_200
  })
  return Math.max(...lengths)
}
