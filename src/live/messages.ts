/**
 * The messages between the thread of changes, the main thread and the front threads. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { OperatorErrorCode } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome, Settled } from '../journal/writer.js'

/** What the thread is born with. */
export interface LiveThreadData {
  readonly dataDirectory: string
  /** What fronts have sent and have no answer to, see `Waiting`. */
  readonly waiting: Int32Array
}

/** To the thread, by a port of its own for each front. Answered by a `BatchReply`. */
export interface BatchOrder {
  readonly number: number
  readonly batch: PreparedBatch
}

/** Without an outcome where the batch could not be written. */
export interface BatchReply {
  readonly number: number
  readonly outcome?: BatchOutcome
}

/** To the thread, from the main thread. */
export type LiveOrder =
  | { readonly kind: 'port'; readonly port: MessagePort }
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
  | ({ readonly kind: 'settled' } & Settled)
