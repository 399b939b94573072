/**
 * A shape that holds so many recipients, found in the data.
 *
 * @module
 */
import type { Polygon } from 'geojson'
import type { Positions } from '../requests/drawn.js'

/**
 * The smallest rectangle around the middle of all recipients, twice as wide in degrees as high, that
 * holds at least so many of them.
 */
export function rectangleHolding({ lngs, lats }: Positions, targetCount: number): Polygon {
  const lng = medianOf(lngs)
  const lat = medianOf(lats)
  const reaches = Uint32Array.from(lngs, (at, row) =>
    Math.max(Math.ceil(Math.abs(at - lng) / 2), Math.abs(lats[row] - lat)),
  ).sort()
  const reach = reaches[targetCount - 1]
  const west = Math.max(-LNG_UNITS_MAX, lng - 2 * reach) / 1e7
  const east = Math.min(LNG_UNITS_MAX, lng + 2 * reach) / 1e7
  const south = Math.max(-LAT_UNITS_MAX, lat - reach) / 1e7
  const north = Math.min(LAT_UNITS_MAX, lat + reach) / 1e7
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [corners] }
}

const LNG_UNITS_MAX = 1_800_000_000
const LAT_UNITS_MAX = 900_000_000

function medianOf(units: ArrayLike<number>): number {
  return Int32Array.from(units).sort()[units.length >> 1]
}
