/**
 * Which pole a ring once round the globe holds: the one nearer to its mean latitude along the ring,
 * each edge weighted by the longitude that it covers. A vertex in the middle of an edge changes
 * nothing, as it would in the mean of the vertices.
 *
 * @module
 */
import { UNITS_PER_DEGREE, UNITS_PER_TURN } from '../units.js'

/** A ring round the globe whose mean latitude is within this of the equator could mean either. */
const EQUATOR_BAND_UNITS = UNITS_PER_DEGREE

/**
 * In whole numbers, since a sum that is rounded could come out on either side of the band, and with
 * it change by a vertex in the middle of an edge. Coordinates of more than seven decimals are as they
 * are in units.
 *
 * @param ring  longitudes and latitudes in units, alternately, not closed
 * @param turns  of each vertex, and of the first one where the ring comes back to it
 * @returns 1 for the north pole, -1 for the south pole, undefined near the equator
 */
export function nearerPole(ring: readonly number[], turns: readonly number[]): 1 | -1 | undefined {
  let covered = 0n
  let moment = 0n
  for (let from = 0; from < ring.length; from += 2) {
    const to = (from + 2) % ring.length
    const turn = turns[from / 2 + 1] - turns[from / 2]
    const span = fixed(ring[to]) - fixed(ring[from]) + BigInt(turn) * fixed(UNITS_PER_TURN)
    const width = span < 0n ? -span : span
    covered += width
    moment += width * (fixed(ring[from + 1]) + fixed(ring[to + 1]))
  }
  // The mean is half of moment / covered.
  const band = 2n * covered * fixed(EQUATOR_BAND_UNITS)
  if (moment > -band && moment < band) return undefined
  return moment > 0n ? 1 : -1
}

/** Coordinates of a hundredth of a unit or more are whole numbers of steps. */
const STEPS_PER_UNIT = 2 ** 60

/** In steps. A product with a power of two is exact. */
function fixed(units: number): bigint {
  return BigInt(Math.round(units * STEPS_PER_UNIT))
}
