/**
 * The target of an answer. The HTTP layer implements it over a socket; tests fake it.
 *
 * @module
 */

import type { ByteSink } from '../format/answer.js'

export type ReplyHeaders = Readonly<Record<string, string>>

export interface Reply {
  /** True once the client has gone; everything below then does nothing. */
  readonly gone: boolean
  /** Calls back once, when the client has all of the answer or has gone. */
  whenOver(listener: () => void): void
  /** Told how many recipients were written into the answer, beside those before. */
  rowsSent(count: number): void
  /** Sends a whole answer. */
  send(status: number, headers: ReplyHeaders, body: Uint8Array | string): void
  /**
   * Sends status and headers, and lets the body follow piece by piece.
   *
   * @param byteCount  how long the body is going to be, where that is known
   */
  begin(status: number, headers: ReplyHeaders, byteCount?: number): Sink
}

/** Where the body of an answer goes, to the client. */
export interface Sink extends ByteSink {
  /** Ends the body. */
  end(): void
  /**
   * Breaks the connection off, so that the client cannot take a part for the whole.
   *
   * @param reason  for the log; it has nothing of the request or of its answer
   */
  abort(reason?: string): void
}
