/**
 * Rings of longitude and latitude in units, alternately, as tests look at them.
 *
 * @module
 */
import type { Polygons } from '../../../src/geometry/polygon/polygons.js'

export type FlatRing = readonly number[]

/** Whether a place is inside an odd number of rings. On an edge is either. */
export function isInOdd(rings: readonly FlatRing[], lng: number, lat: number): boolean {
  let isInside = false
  for (const ring of rings) {
    for (let to = 0, from = ring.length - 2; to < ring.length; from = to, to += 2) {
      const [ax, ay, bx, by] = [ring[from], ring[from + 1], ring[to], ring[to + 1]]
      if (ay > lat !== by > lat && lng < ax + ((lat - ay) / (by - ay)) * (bx - ax)) {
        isInside = !isInside
      }
    }
  }
  return isInside
}

/** Units from a place to the nearest edge. */
export function distanceToEdges(rings: readonly FlatRing[], lng: number, lat: number): number {
  let least = Number.POSITIVE_INFINITY
  for (const ring of rings) {
    for (let to = 0, from = ring.length - 2; to < ring.length; from = to, to += 2) {
      const [dx, dy] = [ring[to] - ring[from], ring[to + 1] - ring[from + 1]]
      const [px, py] = [lng - ring[from], lat - ring[from + 1]]
      const along = dx === 0 && dy === 0 ? 0 : (px * dx + py * dy) / (dx * dx + dy * dy)
      const share = Math.min(1, Math.max(0, along))
      least = Math.min(least, Math.hypot(px - share * dx, py - share * dy))
    }
  }
  return least
}

/** The rings of each polygon. */
export function flatRings({ vertices, ringStarts, polygonStarts }: Polygons): FlatRing[][] {
  return Array.from({ length: polygonStarts.length - 1 }, (_, polygon) =>
    Array.from({ length: polygonStarts[polygon + 1] - polygonStarts[polygon] }, (_, i) => {
      const ring = polygonStarts[polygon] + i
      return Array.from(vertices.subarray(2 * ringStarts[ring], 2 * ringStarts[ring + 1]))
    }),
  )
}
