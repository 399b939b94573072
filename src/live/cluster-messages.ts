/**
 * What the thread of changes and that of a cluster, which puts batches into the log of all machines, call in each other.
 *
 * @module
 */
import type { SentBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'

export interface LogCalls {
  /**
   * Puts these batches into the log, as one group.
   *
   * @returns what became of each; undefined where that is not known, or they cannot be written now
   */
  append(batches: readonly SentBatch[]): Promise<readonly BatchOutcome[] | undefined>
}

export interface ChangesCalls {
  /** Nothing can be written to the journal of this machine, and why; undefined when it can be again. */
  failed(reason: string | undefined): void
}
