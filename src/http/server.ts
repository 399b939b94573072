/**
 * The HTTP server of one front thread.
 *
 * No exception of a handler leaves this file: one that did, before an abort handler is attached,
 * would end the process.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { cannotListen } from './acceptor.js'
import { BatchStopped } from './batch.js'
import { ClientGone, RequestBody } from './body.js'
import { type CorsOrigins, commonHeadersFor, preflightHeaders } from './cors.js'
import { Exchange, type ExchangeOwner } from './exchange.js'
import { internalError, MethodNotAllowed, sendError } from './fault.js'
import { checkFraming, type Handler, IncomingRequest } from './request.js'
import { createRouter, type Route, type Router } from './router.js'
import {
  type AppDescriptor,
  createApp,
  type ListenSocket,
  listenOn,
  type NativeApp,
  type NativeRequest,
  type NativeResponse,
  stopListeningOn,
} from './uws.js'
import { PLAIN, type Wishes, wishesOf } from './wishes.js'

export interface HttpServerOptions {
  /** Of two routes that match a path, the first one wins. */
  readonly routes: readonly Route<Handler>[]
  readonly log: Log
  /** Pages that may read answers; none unless given. */
  readonly corsOrigins?: CorsOrigins
  /** Time without room for more of an answer, after which its reader is cut off. */
  readonly clientStallMs?: number
}

export interface HttpServer {
  /** Requests that are not answered completely yet. */
  readonly openExchangeCount: number
  readonly connectionCount: number
  /** What an acceptor needs to hand connections to this server. */
  descriptor(): AppDescriptor
  /**
   * Listens on its own, without an acceptor.
   *
   * @returns the port
   * @throws OperatorError
   */
  listen(host: string, port: number): Promise<number>
  /** Begins to drain: each answer from now on asks its client to close the connection. */
  stopAccepting(): void
  /** Closes every connection, at once. */
  close(): void
  /**
   * Drains, and closes when nothing is open any more, or when the time is over. Clients that keep
   * a connection get `quietMs` at least in which to learn that it ends.
   *
   * @returns how many exchanges were broken off
   */
  shutDown(times: { quietMs: number; deadlineMs: number }): Promise<number>
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new FrontServer(options)
}

const SHUTDOWN_POLL_MS = 20

class FrontServer implements HttpServer, ExchangeOwner {
  openExchangeCount = 0
  connectionCount = 0
  draining = false
  readonly clientStallMs: number

  readonly #app: NativeApp
  readonly #router: Router<Handler>
  readonly #log: Log
  readonly #corsOrigins: CorsOrigins
  readonly #budget = { heldBytes: 0 }
  #listenSocket: ListenSocket | undefined
  #closed = false

  constructor(options: HttpServerOptions) {
    const { routes, log, clientStallMs = limits.clientStallMs, corsOrigins = [] } = options
    this.clientStallMs = clientStallMs
    this.#corsOrigins = corsOrigins
    this.#router = createRouter(routes)
    this.#log = log
    this.#app = createApp()
    this.#app.filter((native, change) => this.#countConnection(native, change))
    this.#app.any('/*', (native, request) => this.#receive(native, request))
  }

  descriptor(): AppDescriptor {
    return this.#app.getDescriptor()
  }

  async listen(host: string, port: number): Promise<number> {
    const listening = listenOn(this.#app, { host, port, exclusive: true })
    if (listening === undefined) throw cannotListen(host, port)
    this.#listenSocket = listening.socket
    return listening.port
  }

  stopAccepting(): void {
    this.draining = true
    if (this.#listenSocket !== undefined) stopListeningOn(this.#listenSocket)
    this.#listenSocket = undefined
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.stopAccepting()
    this.#app.close()
  }

  async shutDown({ quietMs, deadlineMs }: { quietMs: number; deadlineMs: number }) {
    this.stopAccepting()
    const startedMs = performance.now()
    const elapsedMs = () => performance.now() - startedMs
    const waiting = () => elapsedMs() < quietMs || this.openExchangeCount > 0
    while (waiting() && elapsedMs() < deadlineMs) await sleep(SHUTDOWN_POLL_MS)
    const brokenOffCount = this.openExchangeCount
    this.close()
    return brokenOffCount
  }

  finished(): void {
    this.openExchangeCount--
  }

  misused(what: string): void {
    this.#log.error({ frames: new Error(what).stack }, what)
  }

  #countConnection(native: NativeResponse, change: number): void {
    this.connectionCount += change > 0 ? 1 : -1
    if (change > 0 && this.connectionCount > limits.connectionCount) native.close()
  }

  #receive(native: NativeResponse, nativeRequest: NativeRequest): void {
    const exchange = new Exchange(native, this)
    this.openExchangeCount++
    let request: IncomingRequest | undefined
    try {
      request = new IncomingRequest(nativeRequest, () => exchange.peerAddress)
      exchange.commonHeaders = commonHeadersFor(request, this.#corsOrigins)
      exchange.headersOnly = request.method === 'HEAD'
      this.#checkFraming(request, exchange)
      this.#route(native, request, exchange)
    } catch (fault) {
      this.#fail(exchange, request, fault)
    }
  }

  #checkFraming(request: IncomingRequest, exchange: Exchange): void {
    try {
      checkFraming(request)
    } catch (fault) {
      exchange.closing = true
      throw fault
    }
  }

  #route(native: NativeResponse, request: IncomingRequest, exchange: Exchange): void {
    const match = this.#router.match(request.method, request.path)
    if (match === undefined) throw new ServiceError('NotFound', 'there is nothing at this path')
    const { handler, allow, format } = match
    if (request.method === 'OPTIONS') {
      exchange.send(200, preflightHeaders(request, allow), '')
      return
    }
    request.suffix = match.suffix
    request.pathFormat = format
    if (handler === undefined) throw new MethodNotAllowed(allow)
    request.parameters = match.parameters
    if (request.mayHaveBody) this.#collectBody(native, request, exchange)
    const pending = handler(request, exchange)
    request.source?.leave()
    if (pending !== undefined) void this.#settle(pending, request, exchange)
  }

  #collectBody(native: NativeResponse, request: IncomingRequest, exchange: Exchange): void {
    if (this.openExchangeCount > limits.openExchangeCount) {
      throw new ServiceError('Overloaded', 'too many requests at once')
    }
    const declared = request.header('content-length')
    request.source = new RequestBody(native, {
      declaredBytes: declared === undefined ? undefined : Number(declared),
      budget: this.#budget,
      onRefused: () => {
        exchange.closing = true
      },
    })
    exchange.requestBody = request.source
  }

  async #settle(pending: Promise<void>, request: IncomingRequest, exchange: Exchange) {
    try {
      await pending
      if (exchange.unanswered) throw new Error('a handler ended without an answer')
    } catch (fault) {
      this.#fail(exchange, request, fault)
    }
  }

  #fail(exchange: Exchange, request: IncomingRequest | undefined, fault: unknown): void {
    if (fault instanceof ClientGone) return
    const requestId = request?.requestId ?? 'unknown'
    const expected = fault instanceof ServiceError || fault instanceof BatchStopped
    if (!expected) this.#log.error({ requestId, ...describeFault(fault) }, 'a handler failed')
    if (exchange.unanswered) {
      sendError(exchange, expected ? fault : internalError(requestId), safeWishesOf(request))
    } else {
      // What was sent so far must not look complete.
      exchange.abort()
    }
  }
}

/** Errors are told in the form of the answer, unless that form is what is wrong. */
function safeWishesOf(request: IncomingRequest | undefined): Wishes {
  try {
    return request === undefined ? PLAIN : wishesOf(request)
  } catch {
    return PLAIN
  }
}
