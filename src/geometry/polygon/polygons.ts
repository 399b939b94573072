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

/** Polygons to be filled, with room for so many vertices, rings and polygons: one piece of memory. */
export function emptyPolygons(
  vertexCount: number,
  ringCount: number,
  polygonCount: number,
): Polygons {
  const vertexBytes = 16 * vertexCount
  const boundsEnd = vertexBytes + 32 * polygonCount
  const ringsEnd = boundsEnd + 4 * (ringCount + 1)
  const buffer = new ArrayBuffer(ringsEnd + 4 * (polygonCount + 1))
  return {
    vertices: new Float64Array(buffer, 0, 2 * vertexCount),
    bounds: new Float64Array(buffer, vertexBytes, 4 * polygonCount),
    ringStarts: new Uint32Array(buffer, boundsEnd, ringCount + 1),
    polygonStarts: new Uint32Array(buffer, ringsEnd, polygonCount + 1),
  }
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
