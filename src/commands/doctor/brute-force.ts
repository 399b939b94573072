/**
 * Who is inside a shape, by looking at each recipient, and how an answer differs from that. It shares nothing with
 * what a service does, so that the two do not have the same faults.
 *
 * @module
 */

/** In whole units of 1e-7 degree. */
export interface Place {
  readonly lng: number
  readonly lat: number
}

/** Its last corner is joined to its first. No edge goes over the antimeridian. */
export type Ring = readonly Place[]

export interface Polygon {
  readonly shell: Ring
  readonly holes: readonly Ring[]
}

export interface Circle {
  readonly centre: Place
  readonly radiusM: number
}

export type Shape = Polygon | Circle

/** Whoever is on a boundary is inside, also on that of a hole. */
export function isInside(shape: Shape, place: Place): boolean {
  if ('centre' in shape) return metresBetween(shape.centre, place) <= shape.radiusM
  return (
    sideOf(shape.shell, place) !== 'outside' &&
    shape.holes.every((hole) => sideOf(hole, place) !== 'inside')
  )
}

/** What a client sends for a shape. */
export function geoJsonOf(shape: Shape): object {
  if ('centre' in shape) {
    const geometry = { type: 'Point', coordinates: positionOf(shape.centre) }
    return { type: 'Feature', properties: { radius: shape.radiusM }, geometry }
  }
  const rings = [shape.shell, ...shape.holes]
  return { type: 'Polygon', coordinates: rings.map((ring) => [...ring, ring[0]].map(positionOf)) }
}

/** What an answer must have of a source. */
interface ExpectedSource {
  readonly id: number
  readonly recipients: readonly (Place & { readonly number: string })[]
}

/** What it has; a list where one was asked for. */
export interface AnsweredSource {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly AnsweredRow[]
}

interface AnsweredRow {
  readonly Number: string
  readonly LatLng: { readonly Lat: number; readonly Lng: number }
}

/** @returns undefined where the answer has the same sources with the same counts */
export function countDifference(
  expected: readonly ExpectedSource[],
  answered: readonly AnsweredSource[],
): string | undefined {
  const idsOf = (ids: readonly number[]) => ids.join(', ') || 'none'
  const expectedIds = idsOf(expected.map(({ id }) => id))
  const answeredIds = idsOf(answered.map(({ SourceId }) => SourceId))
  if (answeredIds !== expectedIds) {
    return `the sources ${expectedIds} were asked for, and ${answeredIds} answered`
  }
  const at = expected.findIndex(({ recipients }, i) => recipients.length !== answered[i].Count)
  if (at === -1) return undefined
  const { id, recipients } = expected[at]
  return `source ${id}: ${answered[at].Count} were counted, and ${recipients.length} are inside`
}

/** @returns undefined where the answer also lists each recipient once: its number, latitude and longitude */
export function listDifference(
  expected: readonly ExpectedSource[],
  answered: readonly AnsweredSource[],
): string | undefined {
  const difference = countDifference(expected, answered)
  if (difference !== undefined) return difference
  for (const [i, { id, recipients }] of expected.entries()) {
    const rows = (answered[i].Recipients ?? []).map(rowText)
    const inside = recipients.map(
      ({ number, lat, lng }) => `${number} at ${lat / 1e7}, ${lng / 1e7}`,
    )
    const [listed, wanted] = [new Set(rows), new Set(inside)]
    const missing = inside.filter((row) => !listed.has(row))
    const strange = rows.filter((row) => !wanted.has(row))
    const parts = [
      partOf(missing, 'are inside and not listed'),
      partOf(strange, 'are listed and not inside'),
      partOf(repeatedIn(rows), 'are listed again'),
    ].filter((part) => part !== undefined)
    if (parts.length > 0) return `source ${id}: ${parts.join('; ')}`
  }
  return undefined
}

function rowText({ Number: number, LatLng }: AnsweredRow): string {
  return `${number} at ${LatLng.Lat}, ${LatLng.Lng}`
}

function partOf(rows: readonly string[], what: string): string | undefined {
  return rows.length === 0 ? undefined : `${rows.length} ${what}, such as ${rows[0]}`
}

function repeatedIn(rows: readonly string[]): string[] {
  const seen = new Set<string>()
  return rows.filter((row) => seen.size === seen.add(row).size)
}

/** Even-odd, along the parallel to the east. Whole numbers of any size make it exact. */
function sideOf(ring: Ring, { lng, lat }: Place): 'inside' | 'edge' | 'outside' {
  let isWithin = false
  let from = ring[ring.length - 1]
  for (const to of ring) {
    const [a, b] = [from, to]
    from = to
    if (lat < Math.min(a.lat, b.lat) || lat > Math.max(a.lat, b.lat)) continue
    const turn =
      BigInt(b.lng - a.lng) * BigInt(lat - a.lat) - BigInt(b.lat - a.lat) * BigInt(lng - a.lng)
    const isBetween = lng >= Math.min(a.lng, b.lng) && lng <= Math.max(a.lng, b.lng)
    if (turn === 0n && isBetween) return 'edge'
    // A corner on the parallel belongs to the edge that comes from above.
    if (a.lat > lat === b.lat > lat) continue
    if (turn > 0n === b.lat > a.lat) isWithin = !isWithin
  }
  return isWithin ? 'inside' : 'outside'
}

const EARTH_RADIUS_M = 6_371_000

/** The haversine formula. No recipient of the self-test is so near its circle that rounding decides. */
function metresBetween(one: Place, other: Place): number {
  const radians = (units: number) => (units / 1e7 / 180) * Math.PI
  const [halfLat, halfLng] = [(other.lat - one.lat) / 2, (other.lng - one.lng) / 2].map(radians)
  const cosines = Math.cos(radians(one.lat)) * Math.cos(radians(other.lat))
  const haversine = Math.sin(halfLat) ** 2 + cosines * Math.sin(halfLng) ** 2
  return 2 * EARTH_RADIUS_M * Math.asin(Math.sqrt(haversine))
}

function positionOf({ lng, lat }: Place): [lng: number, lat: number] {
  return [lng / 1e7, lat / 1e7]
}
