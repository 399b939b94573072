/**
 * One request on its way to its handler, and the failures on that way.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { BatchStopped } from './batch.js'
import type { BodyTaker } from './body.js'
import { decompress, decompressKmz } from './decompress.js'
import type { Exchange } from './exchange.js'
import { internalError, sendError } from './fault.js'
import { KMZ_TYPE } from './read-body.js'
import type { Handler } from './request.js'
import { DEFAULT_OPTIONS, type ResponseOptions } from './response/response-options.js'

export class Call implements BodyTaker {
  readonly exchange: Exchange
  readonly #log: Log
  /** Undefined until the route is known. */
  handler: Handler | undefined

  constructor(exchange: Exchange, log: Log) {
    this.exchange = exchange
    this.#log = log
  }

  taken(body: Uint8Array): void {
    const { request, endIsUncertain } = this.exchange
    request?.stages.enter('parse')
    if (!endIsUncertain) {
      this.#take(body)
      return
    }
    const own = Uint8Array.from(body)
    setImmediate(() => {
      if (this.exchange.unanswered) this.#take(own)
    })
  }

  #take(body: Uint8Array): void {
    const { request } = this.exchange
    const encoding = request?.header('content-encoding')
    const isKmz = request?.mediaType === KMZ_TYPE
    if (!(encoding || isKmz) || body.length === 0) this.handle(body)
    else void this.#unpack(Uint8Array.from(body), encoding || 'identity', isKmz)
  }

  refused(fault: ServiceError): void {
    if (this.exchange.endIsUncertain) setImmediate(() => this.fail(fault))
    else this.fail(fault)
  }

  spoilt(): void {
    this.exchange.closing = true
  }

  /** @param body  whole and unpacked, in memory that is used again when this returns */
  handle(body: Uint8Array): void {
    try {
      const { handler, exchange } = this
      assert(handler && exchange.request, 'a body is taken for a handler')
      const pending = handler(exchange.request, exchange, body)
      // A handler without a promise may answer later.
      pending?.then(
        () => this.#ended(),
        (fault) => this.fail(fault),
      )
    } catch (fault) {
      this.fail(fault)
    }
  }

  /** Tells client and log; does not throw. */
  fail(fault: unknown): void {
    const { exchange } = this
    const { requestId } = exchange
    const expected = fault instanceof ServiceError || fault instanceof BatchStopped
    if (!expected) this.#log.error({ requestId, ...describeFault(fault) }, 'a handler failed')
    if (exchange.unanswered) {
      const told = expected ? fault : internalError(requestId)
      exchange.faultCode = (told instanceof BatchStopped ? told.fault : told).code
      sendError(exchange, told, safeOptionsOf(exchange))
    } else {
      // The part that was sent must not look complete.
      exchange.abort()
    }
  }

  async #unpack(body: Uint8Array, encoding: string, isKmz: boolean): Promise<void> {
    let plain: Uint8Array
    try {
      plain = await decompress(body, encoding, limits.bodyBytes)
      if (isKmz) plain = await decompressKmz(plain)
    } catch (fault) {
      this.fail(fault)
      return
    }
    if (this.exchange.unanswered) this.handle(plain)
  }

  #ended(): void {
    if (this.exchange.unanswered) this.fail(new Error('a handler ended without an answer'))
  }
}

/** Errors are told in the form of the answer, unless that form is what is wrong. */
function safeOptionsOf({ request }: Exchange): ResponseOptions {
  try {
    return request?.options ?? DEFAULT_OPTIONS
  } catch {
    return DEFAULT_OPTIONS
  }
}
