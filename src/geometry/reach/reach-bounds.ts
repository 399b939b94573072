/**
 * Whether circles and corridors may reach a region at all, told without looking at its recipients.
 *
 * @module
 */
import type { Bounds } from '../bounds.js'
import { EARTH_RADIUS_METRES, haversineMetres } from '../great-circle.js'
import { RADIANS_PER_UNIT } from '../units.js'
import type { Reaches } from './reaches.js'

/** More arcs are not worth looking at one by one: the search itself drops them as fast. */
const ARC_COUNT_MAX = 256

/** False only if nothing in the region is within reach; a ball around the region stands for it. */
export function reachMeets({ arcs, radiiMetres }: Reaches, region: Readonly<Bounds>): boolean {
  if (radiiMetres.length > ARC_COUNT_MAX) return true
  const lng = (region.minLng + region.maxLng) / 2
  const lat = (region.minLat + region.maxLat) / 2
  const halfLng = ((region.maxLng - region.minLng) / 2) * RADIANS_PER_UNIT
  const halfLat = ((region.maxLat - region.minLat) / 2) * RADIANS_PER_UNIT
  // The way along a meridian and a parallel is longer than the great circle.
  const regionMetres = (halfLat + halfLng) * EARTH_RADIUS_METRES
  for (let arc = 0; arc < radiiMetres.length; arc++) {
    const at = 4 * arc
    const fromMetres = haversineMetres(lng, lat, arcs[at], arcs[at + 1])
    const arcMetres = haversineMetres(arcs[at], arcs[at + 1], arcs[at + 2], arcs[at + 3])
    if (fromMetres <= regionMetres + arcMetres + radiiMetres[arc] + 1) return true
  }
  return false
}
