/**
 * Whether polygons meet a box, exactly: an edge or a corner in common is enough.
 *
 * @module
 */
import { type Bounds, meets } from '../bounds.js'
import { boxMeets } from './box-meets.js'
import { type Polygons, ringsOf } from './polygons.js'

/**
 * Whoever is in one of the polygons is in what they cover.
 *
 * @param box  closed, in units
 */
export function polygonsMeet(polygons: Polygons, box: Readonly<Bounds>): boolean {
  const { polygonStarts, bounds } = polygons
  for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
    if (!meets(box, bounds, 4 * polygon)) continue
    if (isWithin(bounds, 4 * polygon, box)) return true
    if (boxMeets(ringsOf(polygons, polygon), box)) return true
  }
  return false
}

/** Whether bounds, which start at `at` as those of `meets` do, lie in a box whole. */
export function isWithin(bounds: Float64Array, at: number, box: Readonly<Bounds>): boolean {
  return (
    bounds[at] >= box.minLng &&
    bounds[at + 2] <= box.maxLng &&
    bounds[at + 1] >= box.minLat &&
    bounds[at + 3] <= box.maxLat
  )
}
