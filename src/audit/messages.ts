/**
 * The messages between the thread that writes an audit and those that have something to be written.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'

export interface AuditThreadData {
  readonly directory: string
  readonly keepDays: number | undefined
  readonly counters: Int32Array
}

/** To the thread, by a port of its own for each other thread. */
export type AuditOrder =
  /** To be on disk before anything else happens. Answered by an `AuditReply`. */
  | { readonly kind: 'lines'; readonly number: number; readonly entries: readonly string[] }
  /** To be written some time. */
  | { readonly kind: 'notes'; readonly entries: readonly string[] }

export interface AuditReply {
  readonly number: number
  /** Of the first line; undefined if they could not be written. */
  readonly sequence: number | undefined
}

/** To the thread, from the main thread. */
export type AuditThreadOrder =
  | { readonly kind: 'port'; readonly port: MessagePort }
  /** Write what waits, and end. */
  | { readonly kind: 'stop' }

/** From the thread, for the log. */
export type AuditNews =
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'recovered'; readonly lostCount: number }
