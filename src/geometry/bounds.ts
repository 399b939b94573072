/**
 * Boxes along the axes.
 *
 * @module
 */
import type { UnitRing } from './polygon/antimeridian.js'

/** Closed bounds, in units; empty where the least is greater than the greatest. */
export interface Bounds {
  minLng: number
  minLat: number
  maxLng: number
  maxLat: number
}

/** Empty bounds, to be extended. */
export function emptyBounds(): Bounds {
  const [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return { minLng: least, minLat: least, maxLng: most, maxLat: most }
}

export function boundsOf(ring: UnitRing): Bounds {
  const bounds = emptyBounds()
  for (let i = 0; i < ring.length; i += 2) extend(bounds, ring[i], ring[i + 1])
  return bounds
}

/** Makes bounds as large as it takes to hold a position. */
export function extend(bounds: Bounds, lng: number, lat: number): void {
  if (lng < bounds.minLng) bounds.minLng = lng
  if (lng > bounds.maxLng) bounds.maxLng = lng
  if (lat < bounds.minLat) bounds.minLat = lat
  if (lat > bounds.maxLat) bounds.maxLat = lat
}

/** Whether a box meets closed bounds, which start at `at`: min lng, min lat, max lng, max lat. */
export function meets(box: Readonly<Bounds>, bounds: Float64Array, at = 0): boolean {
  return (
    bounds[at] <= box.maxLng &&
    bounds[at + 2] >= box.minLng &&
    bounds[at + 1] <= box.maxLat &&
    bounds[at + 3] >= box.minLat
  )
}
