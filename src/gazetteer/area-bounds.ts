/**
 * The box of an area on the globe.
 *
 * @module
 */
import { lngOnGlobe } from '../geometry/polygon/antimeridian.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { HALF_TURN, POLE_UNITS, UNITS_PER_TURN } from '../geometry/units.js'

/** In units: west and east within ±180 degrees, west greater than east where it goes over the antimeridian. */
export type GlobeBox = readonly [west: number, south: number, east: number, north: number]

/**
 * The box that leaves out the widest gap of longitudes. An area of several polygons is in it whole, however
 * they lie to the antimeridian.
 */
export function globeBoxOf({ bounds }: Polygons): GlobeBox {
  let south = POLE_UNITS
  let north = -POLE_UNITS
  let isRound = false
  const spans: [west: number, east: number][] = []
  for (let at = 0; at < bounds.length; at += 4) {
    // Rings round a pole are closed beyond it.
    south = Math.max(Math.min(south, bounds[at + 1]), -POLE_UNITS)
    north = Math.min(Math.max(north, bounds[at + 3]), POLE_UNITS)
    const widthUnits = bounds[at + 2] - bounds[at]
    if (widthUnits >= UNITS_PER_TURN) isRound = true
    const west = lngOnGlobe(bounds[at])
    spans.push([west, west + widthUnits])
  }
  const wholeBand = [-HALF_TURN, south, HALF_TURN, north] as const
  if (isRound) return wholeBand
  spans.sort(([a], [b]) => a - b)
  const [[first]] = spans
  // What goes over the antimeridian covers the beginning of the others, too.
  let reached = spans.reduce((most, [, end]) => Math.max(most, end - UNITS_PER_TURN), spans[0][1])
  let widest = Number.NEGATIVE_INFINITY
  let west = first
  let east = reached
  for (const [start, end] of [...spans.slice(1), [first + UNITS_PER_TURN, 0] as const]) {
    if (start - reached > widest) {
      widest = start - reached
      west = start
      east = reached
    }
    reached = Math.max(reached, end)
  }
  if (widest <= 0) return wholeBand
  return [onGlobe(west, -1), south, onGlobe(east, 1), north]
}

/** The antimeridian is at -180 where a box begins, and at 180 where it ends. */
function onGlobe(lng: number, sign: 1 | -1): number {
  const place = lngOnGlobe(lng)
  return Math.abs(place) === HALF_TURN ? sign * HALF_TURN : place
}
