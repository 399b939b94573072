/**
 * What an answer is written to. The HTTP layer implements it over a socket; tests fake it.
 *
 * @module
 */

export type ReplyHeaders = Readonly<Record<string, string>>

export interface Reply {
  /** True once the client has gone; everything below then does nothing. */
  readonly gone: boolean
  /** Calls back once, when the client has all of the answer or has gone. */
  whenOver(listener: () => void): void
  /** Sends a whole answer. */
  send(status: number, headers: ReplyHeaders, body: Uint8Array | string): void
  /** Sends status and headers, and lets the body follow piece by piece. */
  begin(status: number, headers: ReplyHeaders): Sink
}

export interface Sink {
  readonly gone: boolean
  /**
   * Hands over one piece of the body, which must not be changed afterwards.
   *
   * @returns false when the client does not keep up: await `drained` before writing again
   */
  write(chunk: Uint8Array): boolean
  /** Resolves when the client has taken what was written, or has gone. */
  drained(): Promise<void>
  /** Ends the body. */
  end(): void
  /** Breaks the connection off, so that the client cannot take a part for the whole. */
  abort(): void
}
