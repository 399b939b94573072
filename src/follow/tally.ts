/**
 * What was read and written while a table is followed.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { RejectReason } from '../sources/rows/rejects.js'

export class FollowTally {
  transactionCount = 0
  /** Written to the journal, without those that were there already. */
  batchCount = 0
  changeCount = 0
  repeatedBatchCount = 0
  readonly #rejects: Partial<Record<RejectReason, number>> = {}
  #reportedMs = performance.now()
  #reported = ''

  reject(reason: RejectReason): void {
    this.#rejects[reason] = (this.#rejects[reason] ?? 0) + 1
  }

  /** Nothing of people. */
  facts() {
    const { transactionCount, batchCount, changeCount, repeatedBatchCount } = this
    const rejected = { ...this.#rejects }
    return { transactionCount, batchCount, changeCount, repeatedBatchCount, rejected }
  }

  /** Logs it, once in a while and if something has happened. */
  report(log: Log): void {
    if (performance.now() - this.#reportedMs < limits.followReportMs) return
    this.#reportedMs = performance.now()
    const facts = this.facts()
    const text = JSON.stringify(facts)
    if (text !== this.#reported) log.info(facts, 'followed')
    this.#reported = text
  }
}
