/**
 * The messages to the thread that writes an access log.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'

export interface LogThreadData {
  /** A path, or `-` for standard output. */
  readonly target: string
  readonly counters: Int32Array
}

/** From a thread that has lines. */
export interface LogOrder {
  readonly kind: 'lines'
  /** Whole lines. */
  readonly text: string
}

/** From the main thread. */
export type LogThreadOrder =
  | { readonly kind: 'port'; readonly port: MessagePort }
  /** Open the file of this name anew. */
  | { readonly kind: 'reopen' }
  /** Write what can be written at once, and end. */
  | { readonly kind: 'stop' }

/** From the thread, for the log of the service. */
export interface LogNews {
  /** Why nothing can be written now; undefined when something can again. */
  readonly failure: string | undefined
}
