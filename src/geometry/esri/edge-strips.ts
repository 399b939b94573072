/**
 * The edges of many rings, cut into strips of latitude, so that an edge is compared only with those
 * near it, and a point only with the edges at its latitude.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import type { Bounds } from '../bounds.js'
import type { UnitRing } from '../polygon/antimeridian.js'
import type { RingBudget } from '../ring-budget.js'
import { orderOf } from './order-of.js'

/** Edges as columns, in the order of their least longitudes. None is without length. */
export interface EdgeStrips {
  readonly edgeCount: number
  readonly fromLngs: Float64Array
  readonly fromLats: Float64Array
  readonly toLngs: Float64Array
  readonly toLats: Float64Array
  /** The place in the list of rings that an edge comes from. */
  readonly rings: Uint32Array
  /** Strip s has the edges stripEdges[stripStarts[s]] to stripEdges[stripStarts[s + 1] - 1]. */
  readonly stripStarts: Uint32Array
  readonly stripEdges: Uint32Array
  /** Ring r has the edges ringEdges[ringStarts[r]] to ringEdges[ringStarts[r + 1] - 1]. */
  readonly ringStarts: Uint32Array
  readonly ringEdges: Uint32Array
  readonly minLat: number
  readonly stripsPerUnit: number
}

/** A side of a directed way. */
export const LEFT = 1
export const RIGHT = -1
type Side = typeof LEFT | typeof RIGHT

/** @param within  bounds for each ring: its edges that lie outside them are left out */
export function edgeStripsOf(rings: readonly UnitRing[], within?: readonly Bounds[]): EdgeStrips {
  const edges = sortedEdges(unsortedEdges(rings, within))
  const { edgeCount } = edges
  let minLat = Number.POSITIVE_INFINITY
  let maxLat = Number.NEGATIVE_INFINITY
  let height = 0
  for (let edge = 0; edge < edgeCount; edge++) {
    const low = lowLatOf(edges, edge)
    const high = highLatOf(edges, edge)
    if (low < minLat) minLat = low
    if (high > maxLat) maxLat = high
    height += high - low
  }
  // An edge lies in one strip more than it is higher than: at most six for each edge on average.
  const stripCount = Math.max(1, Math.min(edgeCount, (4 * edgeCount * (maxLat - minLat)) / height))
  // Rings flatter than a unit are one strip: the quotient must not overflow.
  const stripsPerUnit = maxLat - minLat > 1 ? Math.floor(stripCount) / (maxLat - minLat) : 0
  const strips = filledStrips(edges, minLat, stripsPerUnit)
  return { ...edges, ...strips, ...edgesByRing(edges, rings.length), minLat, stripsPerUnit }
}

/** Rounded, but never to a lower strip for a higher latitude, so that edges and points agree. */
export function stripOf(
  { minLat, stripsPerUnit }: Pick<EdgeStrips, 'minLat' | 'stripsPerUnit'>,
  lat: number,
): number {
  return Math.floor((lat - minLat) * stripsPerUnit)
}

export function minLngOf({ fromLngs, toLngs }: Edges, edge: number): number {
  return fromLngs[edge] < toLngs[edge] ? fromLngs[edge] : toLngs[edge]
}

export function maxLngOf({ fromLngs, toLngs }: Edges, edge: number): number {
  return fromLngs[edge] > toLngs[edge] ? fromLngs[edge] : toLngs[edge]
}

export function lowLatOf({ fromLats, toLats }: Edges, edge: number): number {
  return fromLats[edge] < toLats[edge] ? fromLats[edge] : toLats[edge]
}

export function highLatOf({ fromLats, toLats }: Edges, edge: number): number {
  return fromLats[edge] > toLats[edge] ? fromLats[edge] : toLats[edge]
}

/** Exactly: positive where the point is left of the edge as it is directed, zero on its line. */
export function sideOfEdge(edges: Edges, edge: number, lng: number, lat: number): number {
  // The library counts clockwise as positive.
  return -orient2d(
    edges.fromLngs[edge],
    edges.fromLats[edge],
    edges.toLngs[edge],
    edges.toLats[edge],
    lng,
    lat,
  )
}

/**
 * Calls `visit` for each two edges whose bounds overlap, once.
 *
 * @param budget  comparisons that may be made; the visits end when they are used up
 */
export function forNeighbours(
  edges: EdgeStrips,
  budget: RingBudget,
  visit: (edge: number, other: number) => void,
): void {
  const { stripStarts, stripEdges } = edges
  for (let strip = 0; strip + 1 < stripStarts.length; strip++) {
    const end = stripStarts[strip + 1]
    for (let at = stripStarts[strip]; at < end; at++) {
      const edge = stripEdges[at]
      const maxLng = maxLngOf(edges, edge)
      const lowLat = lowLatOf(edges, edge)
      const highLat = highLatOf(edges, edge)
      for (let next = at + 1; next < end; next++) {
        const other = stripEdges[next]
        if (minLngOf(edges, other) > maxLng) break
        if (--budget.comparisonsLeft < 0) return
        const lat = Math.max(lowLat, lowLatOf(edges, other))
        if (lat > highLat || lat > highLatOf(edges, other)) continue
        // Edges that share several strips meet in the one where the bounds of both begin.
        if (stripOf(edges, lat) === strip) visit(edge, other)
      }
    }
  }
}

/**
 * A ray towards smaller longitudes. It starts where nothing else lies, whatever touches (lng, lat):
 * a little on the way to (towardsLng, towardsLat), and then far less to one side of that way.
 */
export interface Ray {
  readonly lng: number
  readonly lat: number
  readonly towardsLng: number
  readonly towardsLat: number
  readonly side: Side
}

/** Whether a ray crosses an edge; exact, as both its steps are as small as that needs. */
export function crosses(ray: Ray, edges: Edges, edge: number): boolean {
  const { lng, lat, towardsLng, towardsLat, side } = ray
  const { fromLats, toLats } = edges
  const rises = towardsLat === lat ? towardsLng > lng === (side === LEFT) : towardsLat > lat
  const isAboveFrom = lat > fromLats[edge] || (lat === fromLats[edge] && rises)
  const isAboveTo = lat > toLats[edge] || (lat === toLats[edge] && rises)
  if (isAboveFrom === isAboveTo || minLngOf(edges, edge) > lng) return false
  if (maxLngOf(edges, edge) < lng) return true
  let turn = sideOfEdge(edges, edge, lng, lat)
  if (turn === 0) turn = sideOfEdge(edges, edge, towardsLng, towardsLat)
  // The way runs along the edge, so that only the side counts.
  if (turn === 0) turn = isAboveFrom === towardsLat > lat ? side : -side
  // East of an edge is right of it where it runs up, and left of it where it runs down.
  return isAboveFrom ? turn < 0 : turn > 0
}

type Edges = Pick<EdgeStrips, 'edgeCount' | 'fromLngs' | 'fromLats' | 'toLngs' | 'toLats' | 'rings'>

function sortedEdges(unsorted: Edges): Edges {
  const { edgeCount } = unsorted
  const minLngs = new Float64Array(edgeCount)
  for (let edge = 0; edge < edgeCount; edge++) minLngs[edge] = minLngOf(unsorted, edge)
  const order = orderOf(minLngs)
  const sorted = { ...columns(edgeCount), edgeCount }
  const { fromLngs, fromLats, toLngs, toLats, rings } = sorted
  for (let edge = 0; edge < edgeCount; edge++) {
    const before = order[edge]
    fromLngs[edge] = unsorted.fromLngs[before]
    fromLats[edge] = unsorted.fromLats[before]
    toLngs[edge] = unsorted.toLngs[before]
    toLats[edge] = unsorted.toLats[before]
    rings[edge] = unsorted.rings[before]
  }
  return sorted
}

function unsortedEdges(rings: readonly UnitRing[], within: readonly Bounds[] | undefined): Edges {
  const edges = { ...columns(rings.reduce((sum, ring) => sum + ring.length / 2, 0)), edgeCount: 0 }
  rings.forEach((ring, ringIndex) => {
    const bounds = within?.[ringIndex]
    let from = ring.length - 2
    for (let to = 0; to < ring.length; from = to, to += 2) {
      if (ring[from] === ring[to] && ring[from + 1] === ring[to + 1]) continue
      const edge = edges.edgeCount
      edges.fromLngs[edge] = ring[from]
      edges.fromLats[edge] = ring[from + 1]
      edges.toLngs[edge] = ring[to]
      edges.toLats[edge] = ring[to + 1]
      edges.rings[edge] = ringIndex
      // An entry that is not counted is written over.
      if (bounds === undefined || meets(edges, edge, bounds)) edges.edgeCount++
    }
  })
  return edges
}

function meets(edges: Edges, edge: number, bounds: Bounds): boolean {
  if (minLngOf(edges, edge) > bounds.maxLng || maxLngOf(edges, edge) < bounds.minLng) return false
  return lowLatOf(edges, edge) <= bounds.maxLat && highLatOf(edges, edge) >= bounds.minLat
}

function columns(capacity: number) {
  return {
    fromLngs: new Float64Array(capacity),
    fromLats: new Float64Array(capacity),
    toLngs: new Float64Array(capacity),
    toLats: new Float64Array(capacity),
    rings: new Uint32Array(capacity),
  }
}

function edgesByRing({ edgeCount, rings }: Edges, ringCount: number) {
  const ringStarts = new Uint32Array(ringCount + 1)
  for (let edge = 0; edge < edgeCount; edge++) ringStarts[rings[edge] + 1]++
  for (let ring = 0; ring < ringCount; ring++) ringStarts[ring + 1] += ringStarts[ring]
  const ringEdges = new Uint32Array(edgeCount)
  const ends = ringStarts.slice()
  for (let edge = 0; edge < edgeCount; edge++) ringEdges[ends[rings[edge]]++] = edge
  return { ringStarts, ringEdges }
}

/** Each strip keeps the order of the edges. */
function filledStrips(edges: Edges, minLat: number, stripsPerUnit: number) {
  const { edgeCount } = edges
  const stripAt = (lat: number) => stripOf({ minLat, stripsPerUnit }, lat)
  const firsts = new Uint32Array(edgeCount)
  const lasts = new Uint32Array(edgeCount)
  let stripCount = 1
  for (let edge = 0; edge < edgeCount; edge++) {
    firsts[edge] = stripAt(lowLatOf(edges, edge))
    lasts[edge] = stripAt(highLatOf(edges, edge))
    if (lasts[edge] >= stripCount) stripCount = lasts[edge] + 1
  }
  const stripStarts = new Uint32Array(stripCount + 1)
  for (let edge = 0; edge < edgeCount; edge++) {
    for (let strip = firsts[edge]; strip <= lasts[edge]; strip++) stripStarts[strip + 1]++
  }
  for (let strip = 0; strip < stripCount; strip++) stripStarts[strip + 1] += stripStarts[strip]
  const stripEdges = new Uint32Array(stripStarts[stripCount])
  const ends = stripStarts.slice()
  for (let edge = 0; edge < edgeCount; edge++) {
    for (let strip = firsts[edge]; strip <= lasts[edge]; strip++) stripEdges[ends[strip]++] = edge
  }
  return { stripStarts, stripEdges }
}
