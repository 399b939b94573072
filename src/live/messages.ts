/**
 * The messages between the thread of changes, the main thread and the front threads. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { OperatorErrorCode } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import type { Settled } from '../journal/writer.js'
import type { Increment } from '../shard/delta/increment.js'
import type { Snapshot } from '../snapshot/snapshot.js'

/** What the thread is born with. */
export interface LiveThreadData {
  readonly dataDirectory: string
  /** Of a file of the journal. */
  readonly journalFileBytes: number
  /** To the thread that sets marks. */
  readonly marks: MessagePort
  /** What fronts have sent and have no answer to, see `Waiting`. */
  readonly waiting: Int32Array
  /** See figures.ts. */
  readonly figures: Float64Array
  /** To the thread of the cluster; undefined on a machine of none. */
  readonly cluster: MessagePort | undefined
}

/** To the thread, by a port of its own for each front. */
export type FrontMessage = BatchOrder | AbsentQuestion | FollowOrder

/** Answered by a `BatchReply`. */
export interface BatchOrder {
  readonly kind: 'batch'
  readonly number: number
  readonly batch: PreparedBatch
}

/** How many deletes of a batch found nobody? Answered by an `AbsentReply` once it is applied; perhaps never. */
interface AbsentQuestion {
  readonly kind: 'absent'
  readonly number: number
  readonly sequence: number
}

/** Tell what came to an attached snapshot and what comes, or stop. Answered by `IncrementNews`, at once first. */
interface FollowOrder {
  readonly kind: 'follow' | 'ignore'
  readonly snapshotId: string
}

/** From the thread, to a front. */
export type LiveMessage = BatchReply | AbsentReply | IncrementNews

/** Without an outcome where the batch could not be written, or where there is no room. */
export interface BatchReply {
  readonly kind: 'reply'
  readonly number: number
  readonly outcome?: BatchOutcome
  readonly isFull?: boolean
  /** In a cluster: it may be in the log, or come. */
  readonly mayBeStored?: boolean
}

/** Without a count where this thread does not know it. */
interface AbsentReply {
  readonly kind: 'absent'
  readonly number: number
  readonly count?: number
}

export interface IncrementNews {
  readonly kind: 'increments'
  readonly snapshotId: string
  /** In their order. */
  readonly increments: readonly Increment[]
}

/** To the thread, from the main thread. */
export type LiveOrder =
  | { readonly kind: 'port'; readonly port: MessagePort }
  /** Apply the changes behind a snapshot, and all that come. Answered by `done`. */
  | { readonly kind: 'attach'; readonly ticket: number; readonly snapshot: Snapshot }
  /** Touch its memory no more. Answered by `done`. */
  | { readonly kind: 'detach'; readonly ticket: number; readonly snapshotId: string }
  /** Write what waits, and end. */
  | { readonly kind: 'stop' }

/** From the thread, to the main thread. */
export type LiveNews =
  /** It takes batches. Comes once, unless `refused` does. */
  | { readonly kind: 'started' }
  /** The journal is one with which nobody may start. */
  | { readonly kind: 'refused'; readonly code: OperatorErrorCode; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'recovered' }
  /** `fault` says why it was not. */
  | { readonly kind: 'done'; readonly ticket: number; readonly fault?: LiveFault }
  /** Changes of the journal cannot be applied any more. Comes again with each attempt. */
  | {
      readonly kind: 'stuck'
      readonly snapshotId: string
      readonly code: OperatorErrorCode
      readonly reason: string
      /** Whether it is another reason than before. */
      readonly isNew: boolean
    }
  /** There is no room for further changes until there is a new snapshot. */
  | { readonly kind: 'full'; readonly snapshotId: string }
  /** A new snapshot should be made of this one and its changes. */
  | { readonly kind: 'due' }
  | ({ readonly kind: 'settled' } & Settled)

export interface LiveFault {
  readonly code: OperatorErrorCode
  readonly message: string
}
