/**
 * The HTTP server of one front thread.
 *
 * No exception of a handler leaves this file. Before an abort handler is attached, such an exception
 * would end the process.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type MetricSlots, slotOf } from '../metrics/memory.js'
import type { PeerReader } from '../tls/peers.js'
import type { AccessLog } from './access-log.js'
import type { AuditTrail } from './audit-trail.js'
import { type BodyBudget, RequestBody } from './body.js'
import { Call } from './call.js'
import { type CorsOrigins, commonHeadersFor, preflightHeaders } from './cors.js'
import type {
  AppDescriptor,
  Engine,
  EngineApp,
  EngineRequest,
  EngineResponse,
  ListenAddress,
} from './engine/engine.js'
import { Exchange, type ExchangeOwner } from './exchange.js'
import { MethodNotAllowed } from './fault.js'
import { type Admission, framingFault, Gate } from './gate.js'
import { afterNextPoll, cannotListen } from './listen.js'
import { type RequestEnd, RequestObserver } from './observe.js'
import { type Handler, HttpRequest } from './request.js'
import type { ReaderRules } from './response/back-pressure.js'
import { createRouter, nothingAt, type Route, type Router } from './router.js'

interface HttpServerOptions {
  readonly engine: Engine
  /** If several routes match a path, the first one wins. */
  readonly routes: readonly Route<Handler>[]
  readonly log: Log
  readonly admission: Admission
  /** Pages that may read answers. */
  readonly corsOrigins: CorsOrigins
  /**
   * True while there is no room for work with a body of so many bytes. Requests for work are then
   * refused at once.
   */
  readonly isFull: (bodyBytes: number) => boolean
  /** Open requests that wait for events and take no room for work. */
  readonly watcherCount: () => number
  /** The metrics of this thread. */
  readonly page: MetricSlots
  /**
   * The clients, where a TLS thread of the service hands their connections over. Without it, the client is the other
   * end of the connection, and nothing that it sends changes that.
   */
  readonly peers: PeerReader | undefined
  /** Records finished requests; the routes have it, too. */
  readonly trail: AuditTrail | undefined
  readonly accessLog: AccessLog | undefined
}

const SHUTDOWN_POLL_MS = 20

export class HttpServer implements ExchangeOwner {
  /** Requests that are not answered completely yet. */
  openExchangeCount = 0
  connectionCount = 0
  draining = false
  readonly readerRules: ReaderRules

  readonly #app: EngineApp
  readonly #engine: Engine
  readonly #router: Router<Handler>
  readonly #log: Log
  readonly #observer: RequestObserver
  readonly #page: MetricSlots
  readonly #trail: AuditTrail | undefined
  readonly #accessLog: AccessLog | undefined
  readonly #corsOrigins: CorsOrigins
  readonly #gate: Gate
  readonly #budget: BodyBudget
  readonly #peers: PeerReader | undefined
  #closed = false

  constructor(options: HttpServerOptions) {
    const { routes, log, admission, corsOrigins, isFull, page, watcherCount } = options
    this.readerRules = {
      stallMs: limits.clientStallMs,
      bytesPerSecond: limits.clientBytesPerSecond,
    }
    this.#gate = new Gate({
      admission,
      corsOrigins,
      isFull: (bodyBytes) =>
        this.openExchangeCount - watcherCount() > limits.openExchangeCount || isFull(bodyBytes),
    })
    this.#budget = { heldBytes: 0, maxBytes: limits.heldBodyBytes, waitMs: limits.bodyMs }
    this.#corsOrigins = corsOrigins
    this.#peers = options.peers
    this.#router = createRouter(routes)
    this.#log = log
    this.#observer = new RequestObserver(log, page)
    this.#page = page
    this.#trail = options.trail
    this.#accessLog = options.accessLog
    this.#engine = options.engine
    this.#app = options.engine.createApp({
      connection: (native, change) => this.#countConnection(native, change),
      request: (native, request) => this.#receive(native, request),
    })
  }

  /** The bytes of bodies that are not whole yet. */
  get heldBodyBytes(): number {
    return this.#budget.heldBytes
  }

  /** The name by which an acceptor hands connections to this server; undefined where none can. */
  descriptor(): AppDescriptor | undefined {
    return this.#app.handOver?.descriptor
  }

  /**
   * Listens on its own, without an acceptor.
   *
   * @returns the port
   * @throws OperatorError
   */
  async listen(address: ListenAddress): Promise<number> {
    const port = await this.#app.listen(address)
    if (port === undefined) throw await cannotListen(address.host, address.port)
    return port
  }

  /**
   * Listens on a socket of the file system.
   *
   * @throws Error  when it cannot
   */
  async listenOnPath(path: string): Promise<void> {
    if (!(await this.#app.listenOnPath(path))) throw new Error('the socket cannot be listened on')
  }

  /** Begins to drain: each answer from now on asks its client to close the connection. */
  stopAccepting(): void {
    this.draining = true
    this.#app.stopListening()
  }

  /** Closes every connection, at once. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.draining = true
    this.#app.close()
  }

  /**
   * Drains, and closes when nothing is open any more, or when the time is over. Clients that keep
   * a connection get `quietMs` at least in which to learn that it ends; without such clients, it does not wait.
   *
   * @returns how many exchanges were broken off
   */
  async shutDown({ quietMs, deadlineMs }: { quietMs: number; deadlineMs: number }) {
    this.stopAccepting()
    const startedMs = performance.now()
    const elapsedMs = () => performance.now() - startedMs
    // The TLS thread alone knows of clients in a handshake.
    const mayBeKept = () => this.connectionCount > 0 || this.#peers !== undefined
    const leastMs = () => (mayBeKept() ? quietMs : Math.min(quietMs, SHUTDOWN_POLL_MS))
    const waiting = () => elapsedMs() < leastMs() || this.openExchangeCount > 0
    while (waiting() && elapsedMs() < deadlineMs) {
      await sleep(SHUTDOWN_POLL_MS)
      // Closing must lose no request that has arrived, so the sockets are polled once more.
      if (!waiting()) await afterNextPoll()
    }
    const brokenOffCount = this.openExchangeCount
    this.close()
    return brokenOffCount
  }

  begins(exchange: Exchange, status: number, isStream: boolean): void {
    this.#accessLog?.begins(exchange, status, isStream)
  }

  finished(end: RequestEnd): void {
    this.openExchangeCount--
    this.#page[OPEN_REQUESTS] = this.openExchangeCount
    this.#observer.over(end)
    this.#trail?.over(end)
    this.#accessLog?.over(end)
  }

  misused(what: string): void {
    this.#log.error({ frames: new Error(what).stack }, what)
  }

  #countConnection(native: Pick<EngineResponse, 'close'>, change: 1 | -1): void {
    this.connectionCount += change > 0 ? 1 : -1
    this.#page[CONNECTIONS] = this.connectionCount
    if (change <= 0 || this.connectionCount <= limits.connectionCount) return
    this.#page[CONNECTIONS_REFUSED]++
    native.close()
  }

  #receive(native: EngineResponse, nativeRequest: EngineRequest): void {
    const exchange = new Exchange(native, this)
    this.openExchangeCount++
    this.#page[OPEN_REQUESTS] = this.openExchangeCount
    const call = new Call(exchange, this.#log)
    try {
      const request = new HttpRequest(nativeRequest, exchange, this.#gate)
      exchange.request = request
      exchange.commonHeaders = commonHeadersFor(request, this.#corsOrigins)
      exchange.headersOnly = request.method === 'HEAD'
      const fault = this.#peerFault(native, exchange) ?? framingFault(request)
      exchange.endIsUncertain =
        fault !== undefined || (request.isChunked && !this.#engine.readsChunksExactly)
      if (fault !== undefined) throw fault
      this.#route(native, request, call)
    } catch (fault) {
      this.#refuse(native, call, fault)
    }
  }

  /** Why it is not certain whose connection it is; undefined when it is. */
  #peerFault(native: EngineResponse, exchange: Exchange): ServiceError | undefined {
    if (this.#peers === undefined) return undefined
    exchange.peer = this.#peers.find(native.getProxiedRemoteAddress())
    return exchange.peer === undefined ? UNKNOWN_PEER : undefined
  }

  /** Answers before the body is taken, or behind it where the answer closes the connection. */
  #refuse(native: EngineResponse, call: Call, fault: unknown): void {
    const { exchange } = call
    const { request } = exchange
    // It is not known how much of a body in chunks is still to come.
    if (request?.isChunked || exchange.endIsUncertain) exchange.closing = true
    // A client that was not told to continue may send no body, and its next request would be taken for it.
    const waits = request !== undefined && this.#waits(request)
    if (waits) exchange.closing = true
    const closes = exchange.closing || this.draining || request?.asksToClose
    if (closes && !waits && request?.awaitsBody && fault instanceof ServiceError) {
      request.source = this.#bodyOf(native, request, call)
      request.source.discard(fault)
    } else if (exchange.endIsUncertain) setImmediate(() => call.fail(fault))
    else call.fail(fault)
  }

  /** Whether a client sends its body only when it is told to, and has not been told. */
  #waits(request: HttpRequest): boolean {
    return request.mayWait && !this.#engine.hasContinued(request.header('expect') ?? '')
  }

  #bodyOf(native: EngineResponse, request: HttpRequest, call: Call): RequestBody {
    const declaredBytes = request.isChunked ? undefined : request.declaredBytes
    if (this.#waits(request)) this.#engine.continueBody(native)
    return new RequestBody(native, declaredBytes, this.#budget, call)
  }

  #route(native: EngineResponse, request: HttpRequest, call: Call): void {
    const { exchange } = call
    const match = this.#router.match(request.method, request.path)
    if (match === undefined) throw nothingAt(request.path)
    const { handler, allow, format } = match
    if (request.method === 'OPTIONS') {
      exchange.send(200, preflightHeaders(request, allow), '')
      return
    }
    request.suffix = match.suffix
    request.pathFormat = format
    if (handler === undefined) throw new MethodNotAllowed(allow)
    request.parameters = match.parameters
    // Bytes behind a refusal are dropped as they come: if the connection were closed with some of them
    // unread, the client's system could drop the answer. It is not kept for a body that is far too large.
    const bodyBytes = request.mayHaveBody ? request.declaredBytes : 0
    exchange.closing = bodyBytes > limits.bodyBytes + limits.discardBytes
    const refusal = this.#gate.refusalOf(request, match)
    if (refusal !== undefined) {
      // A client that should come again must be able to read when.
      if (refusal === OVERLOADED) exchange.closing = false
      this.#refuse(native, call, refusal)
      return
    }
    exchange.closing = bodyBytes > limits.bodyBytes || exchange.endIsUncertain
    call.handler = handler
    if (!request.mayHaveBody) {
      call.handle(NO_BYTES)
      return
    }
    request.stages.enter('receive')
    request.source = this.#bodyOf(native, request, call)
    request.source.begin()
  }
}

const NO_BYTES = new Uint8Array(0)

const OPEN_REQUESTS = slotOf('hickory_open_requests')
const CONNECTIONS = slotOf('hickory_connections')
const CONNECTIONS_REFUSED = slotOf('hickory_connections_refused_total')

/** A client sent a header of the PROXY protocol, which only the TLS thread may. */
const UNKNOWN_PEER = new ServiceError('InvalidRequest', 'the request begins with a PROXY header')
