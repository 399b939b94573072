/**
 * Whether polygons hold a place, exactly: for a few places, where a search of shards would be too much.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import type { Polygons } from './polygons.js'

/**
 * Whether a place in units is in any of the polygons: on or inside the shell, and in the open interior of none
 * of its holes.
 */
export function contains(polygons: Polygons, lng: number, lat: number): boolean {
  const { polygonStarts, bounds } = polygons
  for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
    const at = 4 * polygon
    if (lng < bounds[at] || lat < bounds[at + 1] || lng > bounds[at + 2] || lat > bounds[at + 3]) {
      continue
    }
    const shell = polygonStarts[polygon]
    if (placeIn(polygons, shell, lng, lat) === 'outside') continue
    let isInHole = false
    for (let ring = shell + 1; ring < polygonStarts[polygon + 1] && !isInHole; ring++) {
      isInHole = placeIn(polygons, ring, lng, lat) === 'inside'
    }
    if (!isInHole) return true
  }
  return false
}

/** By a ray towards greater longitude, as edges.ts has it. */
function placeIn(
  { vertices, ringStarts }: Polygons,
  ring: number,
  lng: number,
  lat: number,
): 'inside' | 'boundary' | 'outside' {
  const end = 2 * ringStarts[ring + 1]
  let isInside = false
  let from = end - 2
  for (let to = 2 * ringStarts[ring]; to < end; from = to, to += 2) {
    const upwards = vertices[from + 1] <= vertices[to + 1]
    const low = upwards ? from : to
    const high = upwards ? to : from
    const lowLat = vertices[low + 1]
    const highLat = vertices[high + 1]
    if (lat < lowLat || lat > highLat) continue
    const lowLng = vertices[low]
    const highLng = vertices[high]
    if (lng > lowLng && lng > highLng) continue
    const isLeft = lng < lowLng && lng < highLng
    // The library counts clockwise as positive.
    const side = isLeft ? 1 : -orient2d(lowLng, lowLat, highLng, highLat, lng, lat)
    // On its line and within its box: on the edge.
    if (side === 0) return 'boundary'
    if (side > 0 && lat < highLat) isInside = !isInside
  }
  return isInside ? 'inside' : 'outside'
}
