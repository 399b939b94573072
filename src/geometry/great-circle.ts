/**
 * Distances on the Earth, taken as a sphere of 6,371 km as geokdbush and the alert geofence of
 * phones take it.
 *
 * @module
 */
import { POLE_UNITS, RADIANS_PER_UNIT, UNITS_PER_TURN } from './units.js'

export const EARTH_RADIUS_METRES = 6_371_000

/** Half way round the Earth: nothing is farther away. */
export const FARTHEST_METRES = Math.PI * EARTH_RADIUS_METRES

/**
 * Great-circle distance between two positions in units, by the haversine formula. The same place is
 * at distance 0 however its longitude is written, and at a pole whatever it is.
 */
export function haversineMetres(lng1: number, lat1: number, lng2: number, lat2: number): number {
  // Half a turn away, or to whichever side the quotient is rounded, the sine is as great.
  const lngStep = lng2 - lng1
  const turns = UNITS_PER_TURN * Math.round(lngStep / UNITS_PER_TURN)
  const lngSine = Math.sin(((lngStep - turns) * RADIANS_PER_UNIT) / 2)
  const latSine = Math.sin(((lat2 - lat1) * RADIANS_PER_UNIT) / 2)
  const haversine = latSine * latSine + latCosine(lat1) * latCosine(lat2) * lngSine * lngSine
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

function latCosine(lat: number): number {
  return Math.abs(lat) === POLE_UNITS ? 0 : Math.cos(lat * RADIANS_PER_UNIT)
}

/** The straight line through a unit sphere between two points a distance apart on the Earth. */
export function chordOf(metres: number): number {
  return 2 * Math.sin(Math.min(metres, FARTHEST_METRES) / EARTH_RADIUS_METRES / 2)
}
