/**
 * The work that it may take to tell how rings lie to each other.
 *
 * @module
 */
import { limits } from '../limits.js'

/** Comparisons of edges that may still be made, about 50 ns each. */
export interface RingBudget {
  comparisonsLeft: number
}

/** The budget that all shapes of one request share. */
export function ringBudget(comparisonCount: number = limits.ringComparisonCount): RingBudget {
  return { comparisonsLeft: comparisonCount }
}
