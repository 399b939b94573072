/**
 * Keeps the nearest of many recipients that are offered. Of those at the same distance the earlier
 * shard comes first, then the one that was imported earlier.
 *
 * @module
 */
import { type Budget, charge } from './budget.js'

/** A recipient, and how far away it is. */
export interface Candidate {
  readonly metres: number
  /** Which of the shards it is in. */
  readonly at: number
  /** Its rank in the order of the import of its shard. */
  readonly rank: number
  readonly recipient: number
}

export class Closest {
  readonly #count: number
  readonly #budget: Budget
  #candidates: Candidate[] = []
  /** Nobody farther away is kept. */
  farthestMetres = Number.POSITIVE_INFINITY

  constructor(count: number, budget: Budget) {
    this.#count = count
    this.#budget = budget
  }

  offer(metres: number, at: number, rank: number, recipient: number): void {
    if (metres > this.farthestMetres) return
    charge(this.#budget, CANDIDATE_COST)
    this.#candidates.push({ metres, at, rank, recipient })
    // Sorting now and then, when the list has doubled, costs less than keeping order.
    if (this.#candidates.length >= 2 * this.#count + SPARE_COUNT) this.cut()
  }

  /** The nearest first. */
  sorted(): readonly Candidate[] {
    this.cut()
    return this.#candidates
  }

  /** Drops all but the nearest, which brings `farthestMetres` up to date. */
  cut(): void {
    this.#candidates.sort((a, b) => a.metres - b.metres || a.at - b.at || a.rank - b.rank)
    this.#candidates.length = Math.min(this.#candidates.length, this.#count)
    if (this.#candidates.length < this.#count) return
    this.farthestMetres = this.#candidates[this.#count - 1].metres
  }
}

const SPARE_COUNT = 1_000

/** The cost of a candidate, most of it when all are sorted, in edge tests. */
const CANDIDATE_COST = 500
