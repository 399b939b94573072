/**
 * The body of one streamed answer, as chunks.
 *
 * A native chunked write always accepts the chunk, and buffers the bytes that the socket does not
 * take. It signals back-pressure only by returning false. The writer must then wait, so at most one
 * chunk is buffered.
 *
 * @module
 */
import type { Sink } from '../../selection/reply.js'
import { Deferred } from '../deferred.js'
import { type NativeResponse, waitAnew } from '../uws.js'
import { type ReaderRules, ReaderWatch } from './reader-watch.js'

/** The library corks 16 KiB, with the length of the chunk. */
const CORKED_BYTES = 15 << 10

interface ChunkedOutput {
  readonly native: NativeResponse
  /** Writes status and headers; called once, corked, right before the first bytes of the body. */
  writeHead(): void
  readonly readerRules: ReaderRules
  /** Called once, when the body was ended. */
  finished(): void
  /** Breaks the connection off, which calls `leave`. */
  cutOff(): void
}

export class ChunkedSink implements Sink {
  #output: ChunkedOutput | undefined
  #headWritten = false
  #ended = false
  #waiting: Deferred<void> | undefined
  #writtenBytes = 0
  #watch: ReaderWatch | undefined

  /** @param output  undefined when nobody is there to write to */
  constructor(output: ChunkedOutput | undefined) {
    this.#output = output
    output?.native.onWritable(() => {
      this.#resume()
      return true
    })
  }

  get writtenBytes(): number {
    return this.#writtenBytes
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
    // Pieces must fit into what the library corks. When corked bytes fill the socket, it takes a larger
    // piece behind them for written and loses it. For a piece that is not corked it prints a warning.
    const last = chunk.length - 1
    for (let start = 0; start < last; start += CORKED_BYTES) {
      writeCorked(output.native, chunk.subarray(start, Math.min(start + CORKED_BYTES, last)))
    }
    // Only the next write tells whether the socket took a piece, so the last byte goes by itself.
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
    this.#output?.cutOff()
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
      cutOff: () => output.cutOff(),
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
