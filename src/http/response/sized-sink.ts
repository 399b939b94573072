/**
 * The body of one streamed answer whose length was told before it.
 *
 * The socket takes what it has room for, straight from the memory of the piece. Of the rest there is a
 * copy, at most one piece, which goes when there is room again. A body of another length is broken off:
 * its client would take what follows on the connection for a part of it, or wait for what never comes.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { copyOf } from '../../format/copy-of.js'
import type { Sink } from '../../selection/reply.js'
import { WRONG_LENGTH } from '../cut-reasons.js'
import { BackPressure } from './back-pressure.js'
import type { SinkOutput } from './sink.js'

interface SizedOutput extends SinkOutput {
  /** Reports a bug in whoever writes. */
  misused(what: string): void
}

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
