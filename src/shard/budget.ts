/**
 * The work that one task may do.
 *
 * @module
 */

export interface Budget {
  /** The rest of the budget, in tests of one edge against one point: 0.7 ns by the kernel, 2.5 ns without. */
  edgeTestCount: number
  /** Looked at now and then: whether nobody waits for the result any more. */
  readonly isUnwanted?: (() => boolean) | null
}

/** Thrown when a selection would cost more than its budget allows. */
export class BudgetSpent extends Error {}

/** Thrown when nobody waits for a selection any more. */
export class Unwanted extends Error {}

/** The cost of carrying a run along, in edge tests. */
export const RUN_COST = 64

/** @throws BudgetSpent, Unwanted */
export function charge(budget: Budget, edgeTestCount: number): void {
  budget.edgeTestCount -= edgeTestCount
  if (budget.edgeTestCount < 0) throw new BudgetSpent()
  if (budget.isUnwanted?.()) throw new Unwanted()
}
