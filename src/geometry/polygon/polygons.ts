/**
 * Polygons, flat, so that they cross threads as three typed arrays.
 *
 * Vertices are longitude and latitude in units of 1e-7 degree. A ring is closed by an edge from
 * its last vertex to its first, so a repeated closing vertex is harmless. The first ring of a
 * polygon is its shell, the others are holes; winding has no meaning.
 *
 * @module
 */
import { toUnits } from '../units.js'

export interface Polygons {
  /** lng, lat, lng, lat, … */
  readonly vertices: Float64Array
  /** Ring r has the vertices [ringStarts[r], ringStarts[r + 1]). */
  readonly ringStarts: Uint32Array
  /** Polygon p has the rings [polygonStarts[p], polygonStarts[p + 1]). */
  readonly polygonStarts: Uint32Array
  /** Of the shell of each polygon: min lng, min lat, max lng, max lat, … */
  readonly bounds: Float64Array
}

/** Polygons to be filled, all zero, with room for so many vertices, rings and polygons. */
export function emptyPolygons(
  vertexCount: number,
  ringCount: number,
  polygonCount: number,
): Polygons {
  const boundsAt = 16 * vertexCount
  const ringsAt = boundsAt + 32 * polygonCount
  const startsAt = ringsAt + 4 * (ringCount + 1)
  const at = reserve(startsAt + 4 * (polygonCount + 1))
  return {
    vertices: new Float64Array(slab, at, 2 * vertexCount),
    bounds: new Float64Array(slab, at + boundsAt, 4 * polygonCount),
    ringStarts: new Uint32Array(slab, at + ringsAt, ringCount + 1),
    polygonStarts: new Uint32Array(slab, at + startsAt, polygonCount + 1),
  }
}

/**
 * Small polygons share a piece of memory, since a piece of its own costs more than to read the request.
 * The piece stays until all of them are gone, so it is small itself.
 */
const SLAB_BYTES = 8_192
const SLAB_SHARE_BYTES_MAX = 1_024
let slab = new ArrayBuffer(SLAB_BYTES)
let slabUsedBytes = 0

/** Makes `slab` have as many bytes that nobody has, and returns where they start. */
function reserve(bytes: number): number {
  const start = slabUsedBytes
  if (bytes <= SLAB_SHARE_BYTES_MAX && start + bytes <= SLAB_BYTES) {
    slabUsedBytes += (bytes + 7) & ~7
    return start
  }
  slab = new ArrayBuffer(Math.max(bytes, SLAB_BYTES))
  slabUsedBytes = bytes <= SLAB_SHARE_BYTES_MAX ? (bytes + 7) & ~7 : SLAB_BYTES
  return 0
}

/** Fills in the bounds of polygons that are otherwise complete. */
export function fillBounds({ vertices, ringStarts, polygonStarts, bounds }: Polygons): void {
  for (let polygon = 0; 4 * polygon < bounds.length; polygon++) {
    const shell = polygonStarts[polygon]
    vertexBounds(vertices, ringStarts[shell], ringStarts[shell + 1], bounds, 4 * polygon)
  }
}

/** Completes polygons that are there as lists. */
export function toPolygons(
  vertexList: readonly number[],
  ringStartList: readonly number[],
  polygonStartList: readonly number[],
): Polygons {
  const polygons = emptyPolygons(
    vertexList.length / 2,
    ringStartList.length - 1,
    polygonStartList.length - 1,
  )
  polygons.vertices.set(vertexList)
  polygons.ringStarts.set(ringStartList)
  polygons.polygonStarts.set(polygonStartList)
  fillBounds(polygons)
  return polygons
}

/** The rings of one polygon, its shell first, each as lng, lat, lng, lat, … */
export function ringsOf(
  { vertices, ringStarts, polygonStarts }: Polygons,
  polygon: number,
): number[][] {
  const rings: number[][] = []
  for (let ring = polygonStarts[polygon]; ring < polygonStarts[polygon + 1]; ring++) {
    rings.push(Array.from(vertices.subarray(2 * ringStarts[ring], 2 * ringStarts[ring + 1])))
  }
  return rings
}

/** Polygons whose rings are lists of longitude and latitude in degrees, which must be valid. */
export function polygonsOf(
  polygons: readonly (readonly (readonly (readonly number[])[])[])[],
): Polygons {
  const rings = polygons.flat()
  return toPolygons(
    rings.flat().flatMap(([lng, lat]) => [toUnits(lng), toUnits(lat)]),
    starts(rings.map((ring) => ring.length)),
    starts(polygons.map((polygon) => polygon.length)),
  )
}

/** Bounds of vertices [start, end), written to `into` from `at` on: min lng, min lat, max lng, max lat. */
export function vertexBounds(
  vertices: Float64Array,
  start: number,
  end: number,
  into: Float64Array,
  at = 0,
): void {
  let minLng = Number.POSITIVE_INFINITY
  let minLat = Number.POSITIVE_INFINITY
  let maxLng = Number.NEGATIVE_INFINITY
  let maxLat = Number.NEGATIVE_INFINITY
  for (let i = start; i < end; i++) {
    const lng = vertices[2 * i]
    const lat = vertices[2 * i + 1]
    if (lng < minLng) minLng = lng
    if (lng > maxLng) maxLng = lng
    if (lat < minLat) minLat = lat
    if (lat > maxLat) maxLat = lat
  }
  into[at] = minLng
  into[at + 1] = minLat
  into[at + 2] = maxLng
  into[at + 3] = maxLat
}

/** Where each of several lists starts when they lie end to end, and where the last one ends. */
function starts(lengths: readonly number[]): number[] {
  const at = [0]
  for (const length of lengths) at.push(at[at.length - 1] + length)
  return at
}
