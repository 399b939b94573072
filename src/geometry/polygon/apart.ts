/**
 * Whether polygons lie apart from others. Those that touch do not.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import { meets } from '../bounds.js'
import type { Polygons } from './polygons.js'

/** How many edges may still be looked at, or compared. */
export interface ApartBudget {
  comparisonsLeft: number
}

/**
 * Whether the polygons [start, end) of `polygons` share no place with any of `others`. By edges and, where
 * none of them meet, by one vertex of each shell: all of a polygon then lies in the same place of the others.
 *
 * @returns false, too, where that takes more than the budget has
 */
export function areApart(
  polygons: Polygons,
  start: number,
  end: number,
  others: Polygons,
  budget: ApartBudget,
): boolean {
  const otherCount = others.polygonStarts.length - 1
  for (let polygon = start; polygon < end; polygon++) {
    for (let other = 0; other < otherCount; other++) {
      const [minLng, minLat, maxLng, maxLat] = polygons.bounds.subarray(4 * polygon)
      if (!meets({ minLng, minLat, maxLng, maxLat }, others.bounds, 4 * other)) continue
      if (!areTwoApart(polygons, polygon, others, other, budget)) return false
    }
  }
  return true
}

function areTwoApart(
  a: Polygons,
  polygon: number,
  b: Polygons,
  other: number,
  budget: ApartBudget,
): boolean {
  const near = edgesNear(b, other, a.bounds.subarray(4 * polygon, 4 * polygon + 4), budget)
  const own = edgesNear(a, polygon, b.bounds.subarray(4 * other, 4 * other + 4), budget)
  budget.comparisonsLeft -= (near.length * own.length) / 16
  if (budget.comparisonsLeft < 0) return false
  for (let i = 0; i < own.length; i += 4) {
    for (let j = 0; j < near.length; j += 4) if (doMeet(own, i, near, j)) return false
  }
  return !holdsFirstVertex(a, polygon, b, other) && !holdsFirstVertex(b, other, a, polygon)
}

/** Edges of all rings of a polygon that meet bounds, as lng, lat, lng, lat. */
function edgesNear(
  { vertices, ringStarts, polygonStarts }: Polygons,
  polygon: number,
  [minLng, minLat, maxLng, maxLat]: Float64Array,
  budget: ApartBudget,
): number[] {
  const edges: number[] = []
  for (let ring = polygonStarts[polygon]; ring < polygonStarts[polygon + 1]; ring++) {
    budget.comparisonsLeft -= ringStarts[ring + 1] - ringStarts[ring]
    if (budget.comparisonsLeft < 0) return edges
    let from = 2 * (ringStarts[ring + 1] - 1)
    for (let to = 2 * ringStarts[ring]; to < 2 * ringStarts[ring + 1]; to += 2) {
      const [lng1, lat1, lng2, lat2] = [
        vertices[from],
        vertices[from + 1],
        vertices[to],
        vertices[to + 1],
      ]
      from = to
      if (Math.max(lng1, lng2) < minLng || Math.min(lng1, lng2) > maxLng) continue
      if (Math.max(lat1, lat2) < minLat || Math.min(lat1, lat2) > maxLat) continue
      edges.push(lng1, lat1, lng2, lat2)
    }
  }
  return edges
}

/** Whether two edges share a place. */
function doMeet(a: readonly number[], i: number, b: readonly number[], j: number): boolean {
  const [ax, ay, bx, by] = [a[i], a[i + 1], a[i + 2], a[i + 3]]
  const [cx, cy, dx, dy] = [b[j], b[j + 1], b[j + 2], b[j + 3]]
  if (Math.max(ax, bx) < Math.min(cx, dx) || Math.min(ax, bx) > Math.max(cx, dx)) return false
  if (Math.max(ay, by) < Math.min(cy, dy) || Math.min(ay, by) > Math.max(cy, dy)) return false
  const areOnOneSide = (p: number, q: number) => (p > 0 && q > 0) || (p < 0 && q < 0)
  if (areOnOneSide(orient2d(ax, ay, bx, by, cx, cy), orient2d(ax, ay, bx, by, dx, dy))) return false
  return !areOnOneSide(orient2d(cx, cy, dx, dy, ax, ay), orient2d(cx, cy, dx, dy, bx, by))
}

/** Whether the first vertex of the shell of a polygon, which lies on no edge of another one, is in that. */
function holdsFirstVertex(
  inner: Polygons,
  polygon: number,
  outer: Polygons,
  other: number,
): boolean {
  const at = 2 * inner.ringStarts[inner.polygonStarts[polygon]]
  const [lng, lat] = [inner.vertices[at], inner.vertices[at + 1]]
  const { ringStarts, polygonStarts } = outer
  const shell = polygonStarts[other]
  if (!isInRing(outer, ringStarts[shell], ringStarts[shell + 1], lng, lat)) return false
  for (let hole = shell + 1; hole < polygonStarts[other + 1]; hole++) {
    if (isInRing(outer, ringStarts[hole], ringStarts[hole + 1], lng, lat)) return false
  }
  return true
}

/** By the even-odd rule, for a place on no edge. */
function isInRing(
  { vertices }: Polygons,
  start: number,
  end: number,
  lng: number,
  lat: number,
): boolean {
  let isInside = false
  let from = 2 * (end - 1)
  for (let to = 2 * start; to < 2 * end; to += 2) {
    const isUp = vertices[to + 1] > lat
    if (vertices[from + 1] > lat !== isUp) {
      const side = orient2d(
        vertices[from],
        vertices[from + 1],
        vertices[to],
        vertices[to + 1],
        lng,
        lat,
      )
      // Above zero lies right of the edge, which runs up or down past it.
      if (side > 0 === isUp) isInside = !isInside
    }
    from = to
  }
  return isInside
}
