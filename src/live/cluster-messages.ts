/**
 * The messages between the thread of changes and that of a cluster, which puts batches into the log of all machines. All
 * are plain data.
 *
 * @module
 */
import type { SentBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'

/** To the thread of the cluster: put these batches into the log, as one group. Answered by `appended`. */
export interface AppendOrder {
  readonly number: number
  readonly batches: readonly SentBatch[]
}

/** From it. */
export type AppendNews =
  /** What became of each; undefined where that is not known, or they cannot be written now. */
  | {
      readonly kind: 'appended'
      readonly number: number
      readonly outcomes: readonly BatchOutcome[] | undefined
    }
  /** Nothing can be written to the journal of this machine, and why; undefined when it can be again. */
  | { readonly kind: 'failed'; readonly reason: string | undefined }
