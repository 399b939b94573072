/**
 * The bodies of streamed answers: `ChunkedSink` where the length is not known, `SizedSink` where it is.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { copyOf } from '../../format/copy-of.js'
import type { Sink } from '../../selection/reply.js'
import type { EngineResponse } from '../engine/engine.js'
import { WRONG_LENGTH } from '../observe.js'
import { BackPressure, type ReaderRules } from './back-pressure.js'

/** The library corks 16 KiB, with the length of the chunk. */
const CORKED_BYTES = 15 << 10

/** The connection, as a sink sees it. */
interface SinkOutput {
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

/**
 * A body of unknown length, as chunks.
 *
 * A native chunked write always accepts the chunk, and buffers the bytes that the socket does not take. It signals
 * back-pressure only by returning false. The writer must then wait, so at most one chunk is buffered.
 */
export class ChunkedSink implements Sink {
  #output: SinkOutput | undefined
  readonly #pressure: BackPressure | undefined
  #headWritten = false
  #ended = false
  #writtenBytes = 0

  /** @param output  undefined if the client has disconnected */
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

interface SizedOutput extends SinkOutput {
  /** Reports a bug of the writer. */
  misused(what: string): void
}

/**
 * A body whose length was told before it.
 *
 * The socket takes what it has room for, straight from the memory of the piece. There is a copy of the rest, at most one
 * piece, which goes when there is room again. A body of another length is broken off: its client would take what follows
 * on the connection for a part of it, or wait for what never comes.
 */
export class SizedSink implements Sink {
  #output: SizedOutput | undefined
  readonly #misused: SizedOutput['misused']
  readonly #pressure: BackPressure
  readonly #totalBytes: number
  #headWritten = false
  #isComplete = false
  #takenBytes = 0
  /** What the socket has not taken yet. */
  #rest = NOTHING

  /** @param totalBytes  of the body */
  constructor(output: SizedOutput, totalBytes: number) {
    this.#output = output
    this.#misused = (what) => output.misused(what)
    this.#totalBytes = totalBytes
    this.#pressure = new BackPressure(output)
    output.native.onWritable(() => this.#goOn())
  }

  /** As far as the socket has taken them. */
  get writtenBytes(): number {
    return this.#takenBytes
  }

  get gone(): boolean {
    return this.#output === undefined && !this.#isComplete
  }

  write(piece: Uint8Array): boolean {
    assert(this.#rest.length === 0, 'a piece is written before the one before it was taken')
    if (this.gone) return false
    if (piece.length === 0) return true
    if (piece.length > this.#totalBytes - this.#takenBytes) this.#breakOff('longer')
    const output = this.#output
    if (output === undefined) return false
    const left = this.#send(output, piece)
    if (left.length === 0) return true
    this.#rest = copyOf(left)
    this.#pressure.waits(this.#takenBytes)
    return false
  }

  drained(): Promise<void> {
    return this.#pressure.over
  }

  end(): void {
    const output = this.#output
    if (output === undefined) return
    if (this.#totalBytes === 0) this.#endEmpty(output)
    else if (this.#takenBytes + this.#rest.length < this.#totalBytes) this.#breakOff('shorter')
  }

  abort(reason?: string): void {
    this.#output?.cutOff(reason)
  }

  /** The connection may no longer be touched. */
  leave(): void {
    this.#output = undefined
    this.#rest = NOTHING
    this.#pressure.end()
  }

  /** @returns what the socket has not taken of it */
  #send(output: SizedOutput, piece: Uint8Array): Uint8Array {
    const { native } = output
    let takenBytes = piece.length
    native.cork(() => {
      this.#writeHeadOnce(output)
      const [fits] = native.tryEnd(piece, this.#totalBytes)
      if (!fits) takenBytes = native.getWriteOffset() - this.#takenBytes
    })
    this.#takenBytes += takenBytes
    if (this.#takenBytes === this.#totalBytes) this.#finish(output)
    return piece.subarray(takenBytes)
  }

  /** @returns whether there is room for more */
  #goOn(): boolean {
    const output = this.#output
    if (output === undefined || !this.#pressure.isOn) return true
    const left = this.#send(output, this.#rest)
    this.#rest = left
    if (left.length === 0) this.#pressure.resume()
    else this.#pressure.waits(this.#takenBytes)
    return left.length === 0
  }

  #endEmpty(output: SizedOutput): void {
    output.native.cork(() => {
      this.#writeHeadOnce(output)
      output.native.end()
    })
    this.#finish(output)
  }

  #finish(output: SizedOutput): void {
    this.#isComplete = true
    this.leave()
    output.finished()
  }

  #breakOff(how: string): void {
    const problem = `a body is ${how} than the ${this.#totalBytes} bytes that were told`
    this.#misused(problem)
    this.#output?.cutOff(WRONG_LENGTH)
  }

  #writeHeadOnce(output: SizedOutput): void {
    if (this.#headWritten) return
    this.#headWritten = true
    output.writeHead()
  }
}

const NOTHING: Uint8Array = new Uint8Array(0)
