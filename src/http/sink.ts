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
import { type ReaderRules, ReaderWatch } from './reader-watch.js'
import { type NativeResponse, waitAnew } from './uws.js'

/** The library corks 16 KiB, with the length of the chunk. */
const CORKED_BYTES = 15 << 10

export interface ChunkedOutput {
  readonly native: NativeResponse
  /** Writes status and headers; called once, corked, right before the first bytes of the body. */
  writeHead(): void
  readonly readerRules: ReaderRules
  /** Called once, when the body was ended. */
  finished(): void
}

export class ChunkedSink implements Sink {
  #output: ChunkedOutput | undefined
  #headWritten = false
  #ended = false
  #waiting: Deferred<void> | undefined
  #writtenBytes = 0
  #watch: ReaderWatch | undefined

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
    if (!this.#headWritten) output.native.cork(() => this.#writeHeadOnce(output))
    // In pieces that fit into what the library corks: behind corked bytes that fill the socket it takes
    // a larger one for written, and loses it. Of each that is not corked it warns on standard error.
    const last = chunk.length - 1
    for (let start = 0; start < last; start += CORKED_BYTES) {
      writeCorked(output.native, chunk.subarray(start, Math.min(start + CORKED_BYTES, last)))
    }
    // Whether the socket took a piece is only told by the write that comes next: the last byte.
    const taken = writeCorked(output.native, chunk.subarray(last))
    if (!taken) this.#block(output)
    this.#writtenBytes += chunk.length
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
    this.#watch?.end()
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
    this.#watch ??= new ReaderWatch(output.readerRules, {
      waitAnew: () => waitAnew(output.native),
      cutOff: () => output.native.close(),
    })
    this.#watch.waits(this.#writtenBytes)
  }

  #resume(): void {
    this.#watch?.goesOn()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}

/** Returns whether what was written before has left for the socket. */
function writeCorked(native: NativeResponse, piece: Uint8Array): boolean {
  let taken = true
  native.cork(() => {
    taken = native.write(piece)
  })
  return taken
}
