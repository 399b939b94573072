/**
 * The messages between the thread of changes and that of a cluster, which keeps the journal that of all machines. All
 * are plain data.
 *
 * @module
 */
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/writer.js'

/** To the thread of changes. */
export type JournalOrder =
  /** Write this entry, and from then on the batches of front threads, too. Answered by `done`. */
  | { readonly kind: 'begin'; readonly number: number; readonly entry: PreparedBatch }
  /** Write no batches any more, but keep them. Answered by `done`. */
  | { readonly kind: 'stop'; readonly number: number }
  /** Write batches again, those that were kept first. */
  | { readonly kind: 'goOn' }
  /** Another machine writes: hand over batches that are kept, and those that were written and are not committed. */
  | { readonly kind: 'handOver' }
  /** Write an entry. Answered by `done`. */
  | { readonly kind: 'enter'; readonly number: number; readonly entry: PreparedBatch }
  /** Write groups of another machine. Answered by `done`. */
  | { readonly kind: 'copy'; readonly number: number; readonly groups: Uint8Array }
  /** Take back what is behind a sequence. Answered by `done`. */
  | { readonly kind: 'cutBack'; readonly number: number; readonly sequence: number }
  /** Remove files of which all batches are at or below a sequence. Answered by `done`. */
  | { readonly kind: 'remove'; readonly number: number; readonly upTo: number }
  /** Let readers see what is written up to a sequence. */
  | { readonly kind: 'commit'; readonly sequence: number }
  /** What became of a batch that was handed over. */
  | ({ readonly kind: 'handed'; readonly number: number } & Handed)

/** Without an outcome where nobody has written it, as far as is known. */
export interface Handed {
  readonly outcome?: BatchOutcome
  readonly isFull?: boolean
}

/** From the thread of changes. */
export type JournalNews =
  /** `fault` says why it was not done; it may be done all the same. */
  | { readonly kind: 'done'; readonly number: number; readonly fault?: string }
  /** Batches of front threads are in the journal. */
  | { readonly kind: 'wrote' }
  /** Nothing can be written. Comes again with each attempt. */
  | { readonly kind: 'failed' }
  /** Have a batch written by the machine that writes. Answered by `handed`. */
  | { readonly kind: 'hand'; readonly number: number; readonly batch: PreparedBatch }
