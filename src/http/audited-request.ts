/**
 * What an audit knows of one request that sends people, or changes what is stored: what it recorded
 * before, and what has happened since.
 *
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import { type Body, type ByteSink, isWhole } from '../format/answer.js'

export class AuditedRequest {
  readonly event: 'list' | 'change'
  /** The sequence of the first line that was written before. */
  readonly begun: number
  readonly begunCount: number
  /** What was changed. */
  readonly changes: Readonly<Record<string, unknown>>[] = []
  /** Undefined once it was read: what is written behind the end of the answer is not of its body. */
  #hash: Hash | undefined
  /** Bytes of the body, before compression, that were handed over to be sent. */
  bodyBytes = 0

  constructor(
    event: AuditedRequest['event'],
    begun: number,
    begunCount: number,
    hasDigest: boolean,
  ) {
    this.event = event
    this.begun = begun
    this.begunCount = begunCount
    this.#hash = hasDigest ? createHash('sha256') : undefined
  }

  /** To be read once, when the answer is over; undefined where no digest is made. */
  sha256(): string | undefined {
    const hash = this.#hash
    this.#hash = undefined
    return hash?.digest('hex')
  }

  /** The same body, of which the digest is made as it is written. */
  digested(body: Body): Body {
    if (isWhole(body)) {
      this.#take(typeof body === 'string' ? Buffer.from(body) : body)
      return body
    }
    const write = (sink: ByteSink) => body.write(this.#sinkBefore(sink))
    return body.byteCount === undefined ? { write } : { write, byteCount: () => byteCountOf(body) }
  }

  #sinkBefore(sink: ByteSink): ByteSink {
    return {
      get gone() {
        return sink.gone
      },
      write: (piece) => {
        this.#take(piece)
        return sink.write(piece)
      },
      drained: () => sink.drained(),
    }
  }

  #take(piece: Uint8Array): void {
    this.bodyBytes += piece.length
    this.#hash?.update(piece)
  }
}

async function byteCountOf(body: Exclude<Body, string | Uint8Array>): Promise<number | undefined> {
  return await body.byteCount?.()
}
