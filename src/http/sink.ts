/**
 * The body of one streamed answer, as chunks.
 *
 * A native chunked write always takes everything and keeps what the socket does not; that it
 * returned false is the only sign. So the writer must wait, and what is kept is one chunk at most.
 *
 * @module
 */
import type { Sink } from '../selection/reply.js'
import { Deferred } from './deferred.js'
import type { NativeResponse } from './uws.js'

export interface ChunkedOutput {
  readonly native: NativeResponse
  /** Writes status and headers; called once, corked, right before the first bytes of the body. */
  writeHead(): void
  /** Time without room for more, after which the reader is cut off. */
  readonly stallMs: number
  /** Called once, when the body was ended. */
  finished(): void
}

export class ChunkedSink implements Sink {
  #output: ChunkedOutput | undefined
  #headWritten = false
  #ended = false
  #waiting: Deferred<void> | undefined
  #stallTimer: NodeJS.Timeout | undefined

  /** @param output  undefined when there is no one to write to */
  constructor(output: ChunkedOutput | undefined) {
    this.#output = output
    output?.native.onWritable(() => {
      this.#resume()
      return true
    })
  }

  get gone(): boolean {
    return this.#output === undefined && !this.#ended
  }

  write(chunk: Uint8Array): boolean {
    const output = this.#output
    if (output === undefined) return false
    // A chunk of no bytes would end the body.
    if (chunk.length === 0) return this.#waiting === undefined
    let taken = true
    output.native.cork(() => {
      this.#writeHeadOnce(output)
      taken = output.native.write(chunk)
    })
    if (!taken) this.#block(output)
    return taken
  }

  drained(): Promise<void> {
    return this.#waiting?.promise ?? Promise.resolve()
  }

  end(): void {
    const output = this.#output
    if (output === undefined) return
    this.#ended = true
    output.native.cork(() => {
      this.#writeHeadOnce(output)
      output.native.end()
    })
    this.leave()
    output.finished()
  }

  abort(): void {
    // Runs the abort handler, which calls `leave`.
    this.#output?.native.close()
  }

  /** The connection may no longer be touched. */
  leave(): void {
    this.#output = undefined
    this.#resume()
  }

  #writeHeadOnce(output: ChunkedOutput): void {
    if (this.#headWritten) return
    this.#headWritten = true
    output.writeHead()
  }

  #block(output: ChunkedOutput): void {
    if (this.#waiting !== undefined) return
    this.#waiting = new Deferred()
    this.#stallTimer = setTimeout(() => output.native.close(), output.stallMs)
  }

  #resume(): void {
    clearTimeout(this.#stallTimer)
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
