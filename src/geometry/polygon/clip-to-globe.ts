/**
 * Rings cut off at the antimeridian and the poles, as RFC 7946, 3.1.9, asks.
 *
 * @module
 */

import { POLE_UNITS } from '../units.js'
import { GLOBE } from './antimeridian.js'

/**
 * The part of a ring that is on the globe. What it goes round outside is gone round along the
 * border instead, so that it holds the same places by the even-odd rule (Sutherland and Hodgman).
 *
 * @param ring  longitudes and latitudes in units, alternately
 */
export function clippedToGlobe(ring: readonly number[]): readonly number[] {
  let clipped = ring
  clipped = keptSide(clipped, 0, GLOBE.min, 1)
  clipped = keptSide(clipped, 0, GLOBE.max, -1)
  clipped = keptSide(clipped, 1, -POLE_UNITS, 1)
  return keptSide(clipped, 1, POLE_UNITS, -1)
}

/**
 * @param axis  0 for longitudes, 1 for latitudes
 * @param sign  1 to keep what is above the limit, -1 to keep what is below
 */
function keptSide(ring: readonly number[], axis: 0 | 1, limit: number, sign: number) {
  // The sign of a difference of two doubles is exact.
  const isKept = (i: number) => sign * (ring[i + axis] - limit) >= 0
  let isWhole = true
  for (let i = 0; i < ring.length && isWhole; i += 2) isWhole = isKept(i)
  if (isWhole) return ring
  const kept: number[] = []
  let from = ring.length - 2
  for (let to = 0; to < ring.length; from = to, to += 2) {
    if (isKept(from) !== isKept(to)) {
      const share = (limit - ring[from + axis]) / (ring[to + axis] - ring[from + axis])
      const other = 1 - axis
      const across = Math.round(
        ring[from + other] + share * (ring[to + other] - ring[from + other]),
      )
      kept.push(axis === 0 ? limit : across, axis === 0 ? across : limit)
    }
    if (isKept(to)) kept.push(ring[to], ring[to + 1])
  }
  return kept
}
