/**
 * The box of an area on the globe.
 *
 * @module
 */
import { lngOnGlobe } from '../geometry/polygon/antimeridian.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { POLE_UNITS, UNITS_PER_TURN } from '../geometry/units.js'

/** In units: west and east within ±180 degrees, west greater than east where it goes over the antimeridian. */
export type GlobeBox = readonly [west: number, south: number, east: number, north: number]

/**
 * The box that leaves out the widest gap of longitudes. An area of several polygons is in it whole, however
 * they lie to the antimeridian.
 */
export function globeBoxOf({ bounds }: Polygons): GlobeBox {
  let south = Number.POSITIVE_INFINITY
  let north = Number.NEGATIVE_INFINITY
  const spans: [west: number, east: number][] = []
  for (let at = 0; at < bounds.length; at += 4) {
    south = Math.min(south, latOnGlobe(bounds[at + 1]))
    north = Math.max(north, latOnGlobe(bounds[at + 3]))
    const widthUnits = bounds[at + 2] - bounds[at]
    if (widthUnits >= UNITS_PER_TURN) return wholeBand(bounds)
    const west = lngOnGlobe(bounds[at])
    spans.push([west, west + widthUnits])
  }
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
  if (widest <= 0) return wholeBand(bounds)
  return [onGlobe(west, -1), south, onGlobe(east, 1), north]
}

function wholeBand(bounds: Float64Array): GlobeBox {
  let [south, north] = [POLE_UNITS, -POLE_UNITS]
  for (let at = 0; at < bounds.length; at += 4) {
    south = Math.min(south, latOnGlobe(bounds[at + 1]))
    north = Math.max(north, latOnGlobe(bounds[at + 3]))
  }
  return [-UNITS_PER_TURN / 2, south, UNITS_PER_TURN / 2, north]
}

/** Rings round a pole are closed beyond it. */
function latOnGlobe(lat: number): number {
  return Math.min(Math.max(lat, -POLE_UNITS), POLE_UNITS)
}

/** The antimeridian is at -180 where a box begins, and at 180 where it ends. */
function onGlobe(lng: number, sign: 1 | -1): number {
  const place = lngOnGlobe(lng)
  return Math.abs(place) === UNITS_PER_TURN / 2 ? (sign * UNITS_PER_TURN) / 2 : place
}
