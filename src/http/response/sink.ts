/**
 * The body of one streamed answer of unknown length, as chunks.
 *
 * A native chunked write always accepts the chunk, and buffers the bytes that the socket does not
 * take. It signals back-pressure only by returning false. The writer must then wait, so at most one
 * chunk is buffered.
 *
 * @module
 */
import type { Sink } from '../../selection/reply.js'
import type { EngineResponse } from '../engine/engine.js'
import { BackPressure } from './back-pressure.js'
import type { ReaderRules } from './reader-watch.js'

/** The library corks 16 KiB, with the length of the chunk. */
const CORKED_BYTES = 15 << 10

/** The connection, as a sink sees it. */
export interface SinkOutput {
  readonly native: EngineResponse
  /** Writes status and headers; called once, corked, right before the first bytes of the body. */
  writeHead(): void
  readonly readerRules: ReaderRules
  /** Called once, when the body is complete. */
  finished(): void
  /**
   * Breaks the connection off, which calls `leave`.
   *
   * @param reason  for the log
   */
  cutOff(reason?: string): void
}

export class ChunkedSink implements Sink {
  #output: SinkOutput | undefined
  readonly #pressure: BackPressure | undefined
  #headWritten = false
  #ended = false
  #writtenBytes = 0

  /** @param output  undefined when nobody is there to write to */
  constructor(output: SinkOutput | undefined) {
    this.#output = output
    if (output === undefined) return
    const pressure = new BackPressure(output)
    this.#pressure = pressure
    output.native.onWritable(() => {
      pressure.resume()
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
    if (chunk.length === 0) return !this.#pressure?.isOn
    if (!this.#headWritten) output.native.cork(() => this.#writeHeadOnce(output))
    // Pieces must fit into what the library corks. When corked bytes fill the socket, it takes a larger
    // piece behind them for written and loses it. For a piece that is not corked it prints a warning.
    const last = chunk.length - 1
    for (let start = 0; start < last; start += CORKED_BYTES) {
      writeCorked(output.native, chunk.subarray(start, Math.min(start + CORKED_BYTES, last)))
    }
    // Only the next write tells whether the socket took a piece, so the last byte goes by itself.
    const taken = writeCorked(output.native, chunk.subarray(last))
    if (!taken && !this.#pressure?.isOn) this.#pressure?.waits(this.#writtenBytes)
    this.#writtenBytes += chunk.length
    return taken
  }

  drained(): Promise<void> {
    return this.#pressure?.over ?? Promise.resolve()
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

  abort(reason?: string): void {
    this.#output?.cutOff(reason)
  }

  /** The connection may no longer be touched. */
  leave(): void {
    this.#output = undefined
    this.#pressure?.end()
  }

  #writeHeadOnce(output: SinkOutput): void {
    if (this.#headWritten) return
    this.#headWritten = true
    output.writeHead()
  }
}

/** Returns whether what was written before has left for the socket. */
function writeCorked(native: EngineResponse, piece: Uint8Array): boolean {
  let taken = true
  native.cork(() => {
    taken = native.write(piece)
  })
  return taken
}
