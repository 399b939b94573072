/**
 * The edges of a few rings, prepared for testing many points against them.
 *
 * Inside is decided by a ray from the point towards greater longitude: an edge is crossed when it
 * spans the point's latitude, half-open at its upper end, and the point lies left of it. Each ring
 * owns one bit, and the set of bits with an odd number of crossings says where the point is.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import { type Polygons, vertexBounds } from './polygons.js'

/** Rings that fit in one table: bits of a mask that stays a small integer. */
export const RINGS_PER_TABLE = 30

/** The bit of the shell; a table without it holds holes alone. */
export const SHELL_BIT = 1

/**
 * The rounding error of the determinant, as a share of the sum of its products' bounds: the two
 * differences, the two products and the subtraction each add at most 2 ** -53; eight times that
 * leaves room, also for the determinant multiplied out, as the kernel in shard/descent/wasm takes it: four
 * products, three sums and the two spans. Rings reach no farther than 2,880 degrees of longitude
 * from any point: three turns wide, and moved by whole turns until they meet the globe, or followed
 * round a pole to ±2,700 degrees.
 */
const RELATIVE_ERROR = 2 ** -50
const FARTHEST_UNITS = 3e10

/** Edges as columns, each directed upwards: its low end has the smaller latitude. */
export interface EdgeTable {
  edgeCount: number
  lowLngs: Float64Array
  lowLats: Float64Array
  highLngs: Float64Array
  highLats: Float64Array
  /** `high - low`, rounded. */
  lngSpans: Float64Array
  latSpans: Float64Array
  minLngs: Float64Array
  maxLngs: Float64Array
  /** A determinant within ± this may have the wrong sign. */
  slacks: Float64Array
  ringBits: Int32Array
  /** The least and the greatest whole latitude that the edge spans: [ceil(low), ceil(high) - 1]. */
  firstLats: Int32Array
  lastLats: Int32Array
  /** Min lng, min lat, max lng, max lat over all edges. */
  readonly bounds: Float64Array
}

export function createEdgeTable(): EdgeTable {
  return { ...columns(64), edgeCount: 0, bounds: new Float64Array(4) }
}

/**
 * Fills `table` with the edges of rings [ringStart, ringEnd), at most RINGS_PER_TABLE of them.
 *
 * @param firstBit  bit of the first ring: SHELL_BIT, or twice that when all of them are holes
 */
export function fillEdgeTable(
  table: EdgeTable,
  polygons: Polygons,
  ringStart: number,
  ringEnd: number,
  firstBit: number,
): void {
  const { vertices, ringStarts } = polygons
  const edgeCount = ringStarts[ringEnd] - ringStarts[ringStart]
  if (edgeCount > table.lowLngs.length) Object.assign(table, columns(2 * edgeCount))
  table.edgeCount = edgeCount
  vertexBounds(vertices, ringStarts[ringStart], ringStarts[ringEnd], table.bounds)
  let edge = 0
  let bit = firstBit
  for (let ring = ringStart; ring < ringEnd; ring++) {
    const end = ringStarts[ring + 1]
    let from = end - 1
    for (let to = ringStarts[ring]; to < end; from = to++) {
      setEdge(table, edge++, vertices, from, to, bit)
    }
    bit <<= 1
  }
}

/**
 * Whether the point set of a table holds a point whose crossed and touched rings are given.
 *
 * With a shell: on or inside it, and in the open interior of no hole.
 * Without: in the open interior of at least one of the holes.
 */
export function holds(crossedBits: number, touchedBits: number, hasShell: boolean): boolean {
  const openHoles = crossedBits & ~touchedBits & ~SHELL_BIT
  return hasShell
    ? openHoles === 0 && ((crossedBits | touchedBits) & SHELL_BIT) !== 0
    : openHoles !== 0
}

/**
 * The side of edge `edge` that a point lies on, exactly: positive to the left (west), zero on its
 * line, negative to the right.
 *
 * Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates.
 */
export function exactSide(table: EdgeTable, edge: number, lng: number, lat: number): number {
  // The library counts clockwise as positive.
  return -orient2d(
    table.lowLngs[edge],
    table.lowLats[edge],
    table.highLngs[edge],
    table.highLats[edge],
    lng,
    lat,
  )
}

function setEdge(
  table: EdgeTable,
  edge: number,
  vertices: Float64Array,
  from: number,
  to: number,
  bit: number,
): void {
  const upwards = vertices[2 * from + 1] <= vertices[2 * to + 1]
  const low = 2 * (upwards ? from : to)
  const high = 2 * (upwards ? to : from)
  const lowLng = vertices[low]
  const highLng = vertices[high]
  const lngSpan = highLng - lowLng
  const latSpan = vertices[high + 1] - vertices[low + 1]
  table.lowLngs[edge] = lowLng
  table.lowLats[edge] = vertices[low + 1]
  table.highLngs[edge] = highLng
  table.highLats[edge] = vertices[high + 1]
  table.lngSpans[edge] = lngSpan
  table.latSpans[edge] = latSpan
  table.minLngs[edge] = lngSpan < 0 ? highLng : lowLng
  table.maxLngs[edge] = lngSpan < 0 ? lowLng : highLng
  table.slacks[edge] = RELATIVE_ERROR * FARTHEST_UNITS * (Math.abs(lngSpan) + latSpan)
  table.ringBits[edge] = bit
  table.firstLats[edge] = Math.ceil(vertices[low + 1])
  table.lastLats[edge] = Math.ceil(vertices[high + 1]) - 1
}

function columns(capacity: number) {
  return {
    lowLngs: new Float64Array(capacity),
    lowLats: new Float64Array(capacity),
    highLngs: new Float64Array(capacity),
    highLats: new Float64Array(capacity),
    lngSpans: new Float64Array(capacity),
    latSpans: new Float64Array(capacity),
    minLngs: new Float64Array(capacity),
    maxLngs: new Float64Array(capacity),
    slacks: new Float64Array(capacity),
    ringBits: new Int32Array(capacity),
    firstLats: new Int32Array(capacity),
    lastLats: new Int32Array(capacity),
  }
}
