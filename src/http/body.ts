/**
 * Takes the body of one request from its connection, up to a limit.
 *
 * A body that is too large is read for a while longer and dropped, and so is one that is refused before it has
 * come, if its connection is to be closed. If it were closed with unread bytes in it, the client's system would
 * drop our answer before the client reads it.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { EngineResponse } from './engine/engine.js'

/** The bytes that all unfinished bodies of one thread hold. */
export interface BodyBudget {
  heldBytes: number
  /** The high-water mark: a body that would go beyond it is refused with a 503. */
  readonly maxBytes: number
  /** Time for each whole body. */
  readonly waitMs: number
}

/** Is told once how a body ends, unless the exchange ends before. */
export interface BodyTaker {
  /** @param body  whole; its memory is used again when this returns */
  taken(body: Uint8Array): void
  refused(fault: ServiceError): void
  /** The body is given up, after which the connection is of no use. Comes before `refused`. */
  spoilt(): void
}

export class RequestBody {
  /** Bytes that were taken from the connection, whether they were kept or not. */
  receivedBytes = 0
  readonly #native: EngineResponse
  readonly #declaredBytes: number | undefined
  readonly #budget: BodyBudget
  readonly #taker: BodyTaker
  /** Copies of all pieces but the last one. */
  #pieces: Buffer[] | undefined
  #heldBytes = 0
  #refusal: ServiceError | undefined
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  /**
   * @param declaredBytes  the Content-Length: the engine hands over exactly as many bytes. Undefined for a body
   *   in chunks
   */
  constructor(
    native: EngineResponse,
    declaredBytes: number | undefined,
    budget: BodyBudget,
    taker: BodyTaker,
  ) {
    this.#native = native
    this.#declaredBytes = declaredBytes
    this.#budget = budget
    this.#taker = taker
  }

  /** Begins to take the body. To be called once, before the native handler returns. */
  begin(): void {
    // The library reports the end of an empty body only if the whole head came in one piece.
    if (this.#declaredBytes === 0) {
      this.#succeed(NO_BYTES)
      return
    }
    this.#native.onData((piece, isLast) => this.#take(piece, isLast))
    if (this.#declaredBytes === undefined || this.#declaredBytes <= limits.bodyBytes) return
    this.#refuse(tooLarge())
    if (this.#declaredBytes > limits.bodyBytes + limits.discardBytes) this.#fail(tooLarge())
  }

  /**
   * Takes the body only to drop it, before a refusal that closes the connection. To be called once, instead of
   * `begin`.
   */
  discard(refusal: ServiceError): void {
    this.#native.onData((piece, isLast) => this.#take(piece, isLast))
    this.#refuse(refusal)
    if ((this.#declaredBytes ?? 0) > limits.bodyBytes + limits.discardBytes) this.#fail(refusal)
  }

  /** The exchange is over, so that no more of the body will arrive. */
  cancel(): void {
    if (!this.#isOver) this.#end()
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    this.receivedBytes += piece.byteLength
    if (this.#isOver) return
    if (this.#declaredBytes === undefined && this.receivedBytes > limits.bodyBytes) {
      const refusal = this.#refusal ?? tooLarge()
      if (this.#refusal === undefined) this.#refuse(refusal)
      if (this.receivedBytes > limits.bodyBytes + limits.discardBytes) this.#fail(refusal)
      if (this.#isOver) return
    }
    if (this.#refusal === undefined && !this.#fits(piece.byteLength)) {
      this.#refuse(new ServiceError('Overloaded', 'too many large requests at once'))
    }
    if (this.#refusal !== undefined) {
      if (isLast) this.#fail(this.#refusal)
    } else if (!isLast) {
      this.#hold(piece)
      // Most bodies come whole with the head of the request, and need no timer.
      this.#timer ??= setTimeout(() => this.#giveUp(), this.#budget.waitMs)
    } else {
      const last = new Uint8Array(piece)
      this.#succeed(this.#pieces === undefined ? last : Buffer.concat([...this.#pieces, last]))
    }
  }

  #fits(byteCount: number): boolean {
    return this.#budget.heldBytes + byteCount <= this.#budget.maxBytes
  }

  #giveUp(): void {
    this.#taker.spoilt()
    this.#fail(new ServiceError('RequestTimeout', 'the body did not arrive in time'))
  }

  /** Keeps a copy: the library detaches the piece when this turn ends. */
  #hold(piece: ArrayBuffer): void {
    this.#budget.heldBytes += piece.byteLength
    this.#heldBytes += piece.byteLength
    this.#pieces ??= []
    this.#pieces.push(Buffer.from(new Uint8Array(piece)))
  }

  #refuse(refusal: ServiceError): void {
    this.#refusal = refusal
    this.#release()
    this.#taker.spoilt()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail(refusal), limits.discardMs)
  }

  #succeed(body: Uint8Array): void {
    this.#end()
    this.#taker.taken(body)
  }

  #fail(fault: ServiceError): void {
    if (this.#isOver) return
    this.#end()
    this.#taker.refused(fault)
  }

  #end(): void {
    this.#isOver = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#release()
  }

  #release(): void {
    this.#budget.heldBytes -= this.#heldBytes
    this.#heldBytes = 0
    this.#pieces = undefined
  }
}

const NO_BYTES = new Uint8Array(0)

function tooLarge(): ServiceError {
  return new ServiceError('BodyTooLarge', `the body is larger than ${limits.bodyBytes} bytes`)
}
