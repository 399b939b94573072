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

/** Completes polygons that are there as lists. */
export function toPolygons(
  vertexList: readonly number[],
  ringStartList: readonly number[],
  polygonStartList: readonly number[],
): Polygons {
  const vertices = new Float64Array(vertexList)
  const ringStarts = new Uint32Array(ringStartList)
  const polygonStarts = new Uint32Array(polygonStartList)
  const polygonCount = polygonStarts.length - 1
  const bounds = new Float64Array(4 * polygonCount)
  for (let polygon = 0; polygon < polygonCount; polygon++) {
    const shell = polygonStarts[polygon]
    const into = bounds.subarray(4 * polygon, 4 * polygon + 4)
    vertexBounds(vertices, ringStarts[shell], ringStarts[shell + 1], into)
  }
  return { vertices, ringStarts, polygonStarts, bounds }
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

/** Bounds of vertices [start, end), written to `into` as min lng, min lat, max lng, max lat. */
export function vertexBounds(
  vertices: Float64Array,
  start: number,
  end: number,
  into: Float64Array,
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
  into[0] = minLng
  into[1] = minLat
  into[2] = maxLng
  into[3] = maxLat
}

/** Where each of several lists starts when they lie end to end, and where the last one ends. */
function starts(lengths: readonly number[]): number[] {
  const at = [0]
  for (const length of lengths) at.push(at[at.length - 1] + length)
  return at
}
