/**
 * One request and its response on a native connection. This file keeps the rules of the connection:
 *
 * - The abort handler is attached before anything can fail.
 * - Nothing touches the response after it has ended or its client has gone.
 * - All writes are corked, and there is at most one answer.
 * - Answers are written under back-pressure, no faster than the client reads.
 *
 * @module
 */
import type { ServiceErrorCode } from '../errors.js'
import type { OperationName } from '../interface/operations.js'
import { limits } from '../limits.js'
import type { Reply, ReplyHeaders, Sink } from '../selection/reply.js'
import type { Peer } from '../tls/peers.js'
import type { AuditedRequest } from './audited-request.js'
import type { EngineResponse } from './engine/engine.js'
import { type HeadBlock, headBlock, writeHead } from './head-block.js'
import {
  HANDLER_FAILED,
  type RequestEnd,
  StageClock,
  type StageTimes,
  serverTiming,
  type TraceParent,
} from './observe.js'
import type { HttpRequest } from './request.js'
import { BackPressure, type ReaderRules } from './response/back-pressure.js'
import { ChunkedSink, SizedSink } from './response/sinks.js'

/** The server, as its exchanges see it. */
export interface ExchangeOwner {
  /** While true, every answer asks the client to close the connection. */
  readonly draining: boolean
  readonly readerRules: ReaderRules
  /** Called once, right before an answer is begun. */
  begins(exchange: Exchange, status: number, isStream: boolean): void
  /** Called once, when the answer is complete or can no longer be given. */
  finished(end: RequestEnd): void
  /** Reports a bug in a handler. */
  misused(what: string): void
}

export const COMMON_HEADERS: ReplyHeaders = {
  Vary: 'Accept, Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
}

/** Statuses of answers that have no body, and no Content-Length either. */
const BODILESS_STATUSES: ReadonlySet<number> = new Set([204, 304])

type Phase = 'open' | 'answering' | 'answered' | 'gone'

export class Exchange implements Reply, RequestEnd {
  /** Answer with headers alone, as HEAD asks. */
  headersOnly = false
  /** Close the connection after the answer, since the end of the request is not known or far away. */
  closing = false
  /**
   * It is not certain where the request ends. It is to be answered in a turn of its own: behind an answer that
   * closes, uWebSockets.js would go on with bytes that have already arrived; but it takes no second request
   * while the first one has no answer.
   */
  endIsUncertain = false
  /** The headers that go with every answer. */
  commonHeaders: ReplyHeaders = COMMON_HEADERS
  /** Undefined until it is read. */
  request: HttpRequest | undefined
  /** Who is at the other end, where the connection does not tell; undefined where it does. */
  peer: Peer | undefined
  /** Why the service broke the connection off, once it has. */
  cutReason: string | undefined
  /** The status of the answer, once it is begun. */
  status: number | undefined
  /** The code of the error that is the answer, if it is one. */
  faultCode: ServiceErrorCode | undefined
  /** Recipients that were written into the answer. */
  rowCount = 0
  /** The address of the other end, where it was kept. */
  address: string | undefined
  isSampled = false

  readonly #native: EngineResponse
  readonly #owner: ExchangeOwner
  #phase: Phase = 'open'
  #sink: ChunkedSink | SizedSink | undefined
  #pressure: BackPressure | undefined
  #sentBytes = 0
  /** Most exchanges have one. */
  #overListener: (() => void) | undefined
  #otherListeners: (() => void)[] | undefined

  constructor(native: EngineResponse, owner: ExchangeOwner) {
    native.onAborted(() => this.#leave())
    this.#native = native
    this.#owner = owner
  }

  /** The address of the other end; `''` when the connection may no longer be touched. */
  get peerAddress(): string {
    if (this.peer !== undefined) return this.peer.address
    if (!this.unanswered) return ''
    return Buffer.from(this.#native.getRemoteAddressAsText()).toString('latin1')
  }

  /** The SHA-256 of the certificate that the client showed, in hexadecimal; undefined without one. */
  get clientCertificate(): string | undefined {
    return this.peer?.certificate
  }

  /** Only a TLS thread tells who is at the other end. */
  get isTls(): boolean {
    return this.peer !== undefined
  }

  get gone(): boolean {
    return this.#phase === 'gone'
  }

  /** True until an answer has been given or begun, or the client has gone. */
  get unanswered(): boolean {
    return this.#phase === 'open'
  }

  get requestId(): string {
    return this.request?.requestId ?? 'unknown'
  }

  get operation(): OperationName | undefined {
    return this.request?.call?.name
  }

  get isBatch(): boolean {
    return this.request?.call?.isBatch ?? false
  }

  get isWatch(): boolean {
    return this.request?.isWatch ?? false
  }

  get outcome(): RequestEnd['outcome'] {
    if (this.cutReason !== undefined) return 'cut'
    return this.gone ? 'left' : 'answered'
  }

  get bytesIn(): number {
    return this.request?.source?.receivedBytes ?? 0
  }

  get bytesOut(): number {
    return this.#sink?.writtenBytes ?? this.#sentBytes
  }

  get keyName(): string | undefined {
    return this.request?.access.keyName
  }

  get traceParent(): TraceParent | undefined {
    return this.request?.traceParent
  }

  get audited(): AuditedRequest | undefined {
    return this.request?.audited
  }

  /** When the request came, by the clock of `performance.now()`. */
  get startedMs(): number {
    return this.request?.stages.startedMs ?? performance.now()
  }

  get stageMs(): StageTimes {
    return (this.request?.stages ?? new StageClock()).read()
  }

  rowsSent(count: number): void {
    this.rowCount += count
  }

  whenOver(listener: () => void): void {
    if (this.#phase !== 'open' && this.#phase !== 'answering') listener()
    else if (this.#overListener === undefined) this.#overListener = listener
    else {
      this.#otherListeners ??= []
      this.#otherListeners.push(listener)
    }
  }

  send(status: number, headers: ReplyHeaders, given: Uint8Array | string): void {
    if (!this.#start(status, false)) return
    // Half of a surrogate pair, of which uWebSockets.js makes bytes that are no UTF-8: earlier versions stored it.
    const body = typeof given === 'string' ? given.toWellFormed() : given
    const close = this.closing || this.#owner.draining
    const native = this.#native
    native.cork(() => {
      this.#writeHead(status, headers)
      if (this.headersOnly && this.closing) {
        // This is the only end without a body that closes, even if it tells another length.
        native.end('', true)
        this.#finish()
      } else if (BODILESS_STATUSES.has(status)) {
        if (close) native.writeHeader('Connection', 'close')
        native.endWithoutBody()
        this.#finish()
      } else if (this.headersOnly) {
        // The native way to report a length here leaves the response open for ever.
        native.writeHeader('Content-Length', String(Buffer.byteLength(body)))
        if (close) native.writeHeader('Connection', 'close')
        native.endWithoutBody()
        this.#finish()
      } else if (body.length === 0 || (close && body.length <= limits.directReplyBytes)) {
        this.#sentBytes = Buffer.byteLength(body)
        native.end(body, close)
        this.#finish()
      } else {
        if (close) native.writeHeader('Connection', 'close')
        this.#sendAsTaken(body)
      }
    })
  }

  begin(status: number, headers: ReplyHeaders, byteCount?: number): Sink {
    if (!this.#start(status, true)) return new ChunkedSink(undefined)
    const close = this.closing || this.#owner.draining
    const writeHead = () => {
      this.#writeHead(status, headers)
      // Asking the native `end` to close would write this header into the chunks.
      if (close) this.#native.writeHeader('Connection', 'close')
    }
    if (this.headersOnly) {
      this.#native.cork(() => {
        writeHead()
        if (byteCount !== undefined) this.#native.writeHeader('Content-Length', String(byteCount))
        this.#native.endWithoutBody()
      })
      this.#finish()
      return new ChunkedSink(undefined)
    }
    const output = {
      native: this.#native,
      writeHead,
      finished: () => this.#finish(),
      cutOff: (reason?: string) => this.abort(reason),
      misused: (what: string) => this.#owner.misused(what),
      readerRules: this.#owner.readerRules,
    }
    this.#sink =
      byteCount === undefined ? new ChunkedSink(output) : new SizedSink(output, byteCount)
    return this.#sink
  }

  /**
   * Breaks the connection off, which runs the abort handler.
   *
   * @param reason  for the log
   */
  abort(reason = HANDLER_FAILED): void {
    if (this.#phase !== 'open' && this.#phase !== 'answering') return
    this.cutReason = reason
    this.#native.close()
  }

  #start(status: number, isStream: boolean): boolean {
    if (this.#phase === 'open') {
      this.#owner.begins(this, status, isStream)
      this.status = status
      this.#phase = 'answering'
      return true
    }
    if (this.#phase !== 'gone') this.#owner.misused('a request was answered twice')
    return false
  }

  #writeHead(status: number, headers: ReplyHeaders): void {
    writeHead(this.#native, status, blockOf(headers, this.commonHeaders), this.#ownLines())
  }

  /** The headers of this answer alone, as lines behind those of others. */
  #ownLines(): string {
    const { request } = this
    if (request === undefined) return ''
    const line = `\r\nX-Request-Id: ${request.requestId}`
    if (request.header('x-server-timing') === undefined) return line
    return `${line}\r\nServer-Timing: ${serverTiming(request.stages.read())}`
  }

  /**
   * Writes as much as fits, and the rest under back-pressure. Small bodies are written so, too: the
   * native `end` buffers what the socket does not take, for each request of a client that reads nothing.
   */
  #sendAsTaken(body: Uint8Array | string): void {
    const native = this.#native
    const totalBytes = Buffer.byteLength(body)
    if (native.tryEnd(body, totalBytes)[1]) {
      this.#sentBytes = totalBytes
      this.#finish()
      return
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const pressure = new BackPressure({
      native,
      readerRules: this.#owner.readerRules,
      cutOff: (reason) => this.abort(reason),
    })
    this.#pressure = pressure
    this.#sentBytes = native.getWriteOffset()
    pressure.waits(this.#sentBytes)
    native.onWritable((offset) => {
      pressure.resume()
      const [fits, complete] = native.tryEnd(bytes.subarray(offset), totalBytes)
      this.#sentBytes = complete ? totalBytes : native.getWriteOffset()
      if (complete) this.#finish()
      else pressure.waits(this.#sentBytes)
      return fits
    })
  }

  #finish(): void {
    this.#phase = 'answered'
    this.#end()
  }

  #leave(): void {
    if (this.#phase === 'answered' || this.#phase === 'gone') return
    this.#phase = 'gone'
    this.#sink?.leave()
    this.#end()
  }

  #end(): void {
    this.#pressure?.end()
    this.#owner.finished(this)
    this.request?.source?.cancel()
    this.#overListener?.()
    for (const listener of this.#otherListeners ?? []) listener()
  }
}

/** The block of headers that many answers have, which are frozen, is made once. */
function blockOf(headers: ReplyHeaders, common: ReplyHeaders): HeadBlock {
  const known = common === COMMON_HEADERS ? sharedBlocks.get(headers) : undefined
  if (known !== undefined) return known
  const block = headBlock([...Object.entries(headers), ...Object.entries(common)])
  if (common === COMMON_HEADERS && Object.isFrozen(headers)) sharedBlocks.set(headers, block)
  return block
}

const sharedBlocks = new WeakMap<ReplyHeaders, HeadBlock>()
