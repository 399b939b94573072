/**
 * Distances on the Earth, taken as a sphere of 6,371 km as geokdbush and the alert geofence of
 * phones take it.
 *
 * @module
 */
import { RADIANS_PER_UNIT } from './units.js'

export const EARTH_RADIUS_METRES = 6_371_000

/** Half way round the Earth: nothing is farther away. */
export const FARTHEST_METRES = Math.PI * EARTH_RADIUS_METRES

/** Great-circle distance between two positions in units, by the haversine formula. */
export function haversineMetres(lng1: number, lat1: number, lng2: number, lat2: number): number {
  const lngSine = Math.sin(((lng2 - lng1) * RADIANS_PER_UNIT) / 2)
  const latSine = Math.sin(((lat2 - lat1) * RADIANS_PER_UNIT) / 2)
  const cosines = Math.cos(lat1 * RADIANS_PER_UNIT) * Math.cos(lat2 * RADIANS_PER_UNIT)
  const haversine = latSine * latSine + cosines * lngSine * lngSine
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

/** The straight line through a unit sphere between two points a distance apart on the Earth. */
export function chordOf(metres: number): number {
  return 2 * Math.sin(Math.min(metres, FARTHEST_METRES) / EARTH_RADIUS_METRES / 2)
}
