/**
 * Collects the body of one request, up to a limit.
 *
 * A body that is too large is read for a while longer and dropped. If the connection were closed with
 * unread bytes in it, the client's system would drop our answer before the client reads it.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { Deferred } from './deferred.js'
import type { NativeResponse } from './uws.js'

/** The client left before its request was complete, so that nobody is there to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
  }
}

/** The bytes that all unfinished bodies of one thread hold. */
export interface BodyBudget {
  heldBytes: number
  /** The high-water mark: a body that would go beyond it is refused with a 503. */
  readonly maxBytes: number
}

interface BodyOptions {
  /** The Content-Length. The library hands over exactly as many bytes. */
  readonly declaredBytes: number
  readonly budget: BodyBudget
  /** Time for the whole body. */
  readonly waitMs: number
  /** Called when the body is given up, after which the connection is of no use. */
  readonly onRefused: () => void
}

/**
 * A body is taken from the connection only if the handler asks for it before the handler first waits.
 * If the library passed on a body whose request was already answered, it would never close that
 * connection when it idles.
 */
export class RequestBody {
  /** Bytes that were taken from the connection, whether they were kept or not. */
  receivedBytes = 0
  readonly #native: NativeResponse
  readonly #declaredBytes: number
  readonly #onRefused: () => void
  readonly #waitMs: number
  readonly #budget: BodyBudget
  #phase: 'unasked' | 'taken' | 'left' = 'unasked'
  #chunks: Buffer[] = []
  #heldBytes = 0
  #refusal: ServiceError | undefined
  #timer: NodeJS.Timeout | undefined
  #outcome: Uint8Array | Error | undefined
  #waiting: Deferred<Uint8Array> | undefined

  constructor(native: NativeResponse, options: BodyOptions) {
    const { declaredBytes, budget, waitMs, onRefused } = options
    this.#native = native
    this.#declaredBytes = declaredBytes
    this.#budget = budget
    this.#waitMs = waitMs
    this.#onRefused = onRefused
  }

  read(): Promise<Uint8Array> {
    if (this.#phase === 'left') return Promise.reject(new Error('a body was asked for too late'))
    if (this.#phase === 'unasked') this.#begin()
    if (this.#outcome instanceof Error) return Promise.reject(this.#outcome)
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome)
    this.#waiting ??= new Deferred()
    return this.#waiting.promise
  }

  /** The handler has returned. A body that it has not asked for is not taken. */
  leave(): void {
    if (this.#phase === 'unasked') this.#phase = 'left'
  }

  /** The exchange is over, so that no more of the body will arrive. */
  cancel(): void {
    // Most bodies are whole by then, and an error costs as much as parsing a small body.
    if (this.#phase === 'taken' && this.#outcome === undefined) this.#settle(new ClientGone())
  }

  #begin(): void {
    this.#phase = 'taken'
    if (this.#declaredBytes > limits.bodyBytes) {
      this.#refuse(tooLarge())
      const isFarTooLarge = this.#declaredBytes > limits.bodyBytes + limits.discardBytes
      if (isFarTooLarge) this.#settle(tooLarge())
    }
    // The library reports the end of an empty body only if the whole head came in one piece.
    if (this.#declaredBytes === 0) this.#settle(NO_BYTES)
    else this.#native.onData((chunk, isLast) => this.#take(chunk, isLast))
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.receivedBytes += chunk.byteLength
    if (this.#outcome !== undefined) return
    if (this.#refusal === undefined) this.#hold(chunk)
    if (this.#refusal !== undefined) {
      if (isLast) this.#settle(this.#refusal)
    } else if (isLast) {
      const [first] = this.#chunks
      this.#settle(this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks))
    } else {
      // Most bodies come whole with the head of the request, and need no timer.
      this.#timer ??= setTimeout(() => this.#giveUp(), this.#waitMs)
    }
  }

  #giveUp(): void {
    this.#onRefused()
    this.#settle(new ServiceError('RequestTimeout', 'the body did not arrive in time'))
  }

  /** Keeps a copy: the chunk is detached when this turn ends. */
  #hold(chunk: ArrayBuffer): void {
    if (this.#budget.heldBytes + chunk.byteLength > this.#budget.maxBytes) {
      this.#refuse(new ServiceError('Overloaded', 'too many large requests at once'))
      return
    }
    this.#budget.heldBytes += chunk.byteLength
    this.#heldBytes += chunk.byteLength
    this.#chunks.push(Buffer.from(new Uint8Array(chunk)))
  }

  #refuse(refusal: ServiceError): void {
    this.#refusal = refusal
    this.#release()
    this.#onRefused()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#settle(refusal), limits.discardMs)
  }

  #settle(outcome: Uint8Array | Error): void {
    if (this.#outcome !== undefined) return
    this.#outcome = outcome
    clearTimeout(this.#timer)
    this.#release()
    if (this.#waiting === undefined) return
    if (outcome instanceof Error) this.#waiting.reject(outcome)
    else this.#waiting.resolve(outcome)
  }

  #release(): void {
    this.#budget.heldBytes -= this.#heldBytes
    this.#heldBytes = 0
    this.#chunks = []
  }
}

const NO_BYTES = new Uint8Array(0)

function tooLarge(): ServiceError {
  return new ServiceError('BodyTooLarge', `the body is larger than ${limits.bodyBytes} bytes`)
}
