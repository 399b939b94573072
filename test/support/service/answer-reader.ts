/**
 * Reads whole HTTP answers out of the bytes of a connection as they come.
 *
 * @module
 */
import { type AnswerStream, createAnswerStream } from './answer-stream.js'

export interface ReadAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export class AnswerReader {
  /** What has come behind the last answer. */
  #left: Buffer = Buffer.alloc(0)
  #stream: AnswerStream | undefined
  #pieces: Buffer[] = []

  /**
   * @param headersOnly  whether the next answer has no body, as one to HEAD
   * @returns the answer that these bytes complete, if any
   * @throws Error  when what came is no answer
   */
  push(bytes: Buffer, headersOnly = false): ReadAnswer | undefined {
    const arrived = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes])
    if (arrived.length === 0) return undefined
    this.#stream ??= createAnswerStream((piece) => this.#pieces.push(piece), headersOnly)
    this.#left = arrived.subarray(this.#stream.read(arrived))
    return this.#stream.isOver ? this.#finish(this.#stream) : undefined
  }

  #finish({ status, headers }: AnswerStream): ReadAnswer {
    const body = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
    this.#stream = undefined
    this.#pieces = []
    return { status, headers, body }
  }
}
