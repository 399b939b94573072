/**
 * Boxes of degrees, and of units.
 *
 * @module
 */
import type { Bounds } from '../../geometry/bounds.js'
import { HALF_TURN, toUnits, UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { Box } from './source.js'

export function boxOf({ minLng, minLat, maxLng, maxLat }: Readonly<Bounds>): Box {
  const degrees = (units: number) => units / UNITS_PER_DEGREE
  return [degrees(minLng), degrees(minLat), degrees(maxLng), degrees(maxLat)]
}

/** Two where it runs over the antimeridian. */
export function boundsOfBox([west, south, east, north]: Box): Bounds[] {
  const lats = { minLat: toUnits(south), maxLat: toUnits(north) }
  const [minLng, maxLng] = [toUnits(west), toUnits(east)]
  if (west <= east) return [{ minLng, maxLng, ...lats }]
  return [
    { minLng, maxLng: HALF_TURN, ...lats },
    { minLng: -HALF_TURN, maxLng, ...lats },
  ]
}
