/**
 * What the thread of changes, the main thread and the front threads call in each other.
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

/** What the thread starts with. */
export interface LiveThreadData {
  readonly dataDirectory: string
  /** Size of a file of the journal. */
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

/** The main thread calls them. */
export interface LiveCalls {
  /**
   * Answers when batches are taken.
   *
   * @throws OperatorError  JournalDamaged
   */
  started(): void
  /** Serves another thread, which has the other end. */
  serve(port: MessagePort): void
  /**
   * Applies the changes behind a snapshot, and all that come.
   *
   * @throws OperatorError
   */
  attach(snapshot: Snapshot): Promise<void>
  /** Touches its memory no more. */
  detach(snapshotId: string): Promise<void>
  /** Writes what waits, and ends. */
  stop(): Promise<void>
}

/** The thread calls them in the main thread. */
export interface LiveNews {
  /** The journal cannot be written. */
  failed(reason: string): void
  recovered(): void
  /** Changes of the journal cannot be applied any more. Comes again with each attempt. */
  stuck(fault: StuckFault): void
  /** There is no room for further changes until there is a new snapshot. */
  full(snapshotId: string): void
  /** A new snapshot should be made of this one and its changes. */
  due(): void
  settled(settled: Settled): void
}

export interface StuckFault {
  readonly snapshotId: string
  readonly code: OperatorErrorCode
  readonly reason: string
  /** Whether it is another reason than before. */
  readonly isNew: boolean
}

/** A front calls them, or a thread that makes digests. */
export interface ChangeCalls {
  append(batch: PreparedBatch): Promise<BatchReply>
  /**
   * How many deletes of a batch found no recipient. Answers once it is applied; perhaps never.
   *
   * @returns undefined where this thread does not know it
   */
  absentCountOf(sequence: number): Promise<number | undefined>
  /** Calls `increments` with what came to an attached snapshot, at once first, and with what comes. */
  follow(snapshotId: string): void
  ignore(snapshotId: string): void
}

/** Without an outcome where the batch could not be written, or where there is no room. */
export interface BatchReply {
  readonly outcome?: BatchOutcome
  readonly isFull?: boolean
  /** In a cluster: it may be in the log, or come. */
  readonly mayBeStored?: boolean
}

/** The thread calls them in what follows a snapshot. */
export interface FollowerCalls {
  /** In their order. */
  increments(snapshotId: string, increments: readonly Increment[]): void
}
