/**
 * A request for handlers. It is a complete copy, because the native request is gone as soon as the
 * native handler returns.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { ServiceError } from '../errors.js'
import type { Format } from '../format/formats.js'
import type { OperationName } from '../interface/operations.js'
import { limits } from '../limits.js'
import { type Access, OPEN_ACCESS } from '../selection/access.js'
import type { Reply } from '../selection/reply.js'
import type { AuditedRequest } from './audited-request.js'
import type { RequestBody } from './body.js'
import type { EngineRequest } from './engine/engine.js'
import { StageClock, type TraceParent, traceParentOf } from './observe.js'
import { type ResponseOptions, responseOptionsOf } from './response/response-options.js'

/** The headers that are copied; a handler that needs another one adds it here. */
const headerNames = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'last-event-id',
  'origin',
  'referer',
  'sec-fetch-site',
  'traceparent',
  'transfer-encoding',
  'via',
  'x-forwarded-for',
  'x-http-method-override',
  'x-real-ip',
  'x-request-id',
  'x-server-timing',
] as const

type HeaderName = (typeof headerNames)[number]

/** One call of an operation, or a batch of them. */
export interface OperationCall {
  readonly name: OperationName
  readonly isBatch: boolean
}

/** Decides who may call an operation. */
export interface CallCheck {
  /** Why this request may not; undefined when it may. */
  callFault(request: HttpRequest, call: OperationCall): ServiceError | undefined
  /** Counts a request whose key lacks the scope, where only its members could tell. */
  lacksScope(request: HttpRequest): void
  /** The client's permissions by now. */
  accessNow(request: HttpRequest): Access
}

/**
 * Answers a request whose body is whole. An async handler has answered, or begun to, when its promise
 * resolves.
 *
 * @param body  unpacked, and empty where there is none. Its memory is used again when the handler
 *   returns or first waits: copy what is needed later
 */
export type Handler = (request: HttpRequest, reply: Reply, body: Uint8Array) => void | Promise<void>

/** The client at the other end. */
interface Connection {
  readonly peerAddress: string
  readonly clientCertificate: string | undefined
  readonly isTls: boolean
}

export class HttpRequest {
  readonly stages = new StageClock()
  /** The verb that is meant. A POST may name another one; a HEAD runs the handler of GET. */
  readonly method: string
  /** Whether the verb that was sent may have a body, even if another one is meant. */
  readonly mayHaveBody: boolean
  /** As sent, without the query. */
  readonly path: string
  /** The variables of the route, decoded. */
  parameters: Readonly<Record<string, string>> = {}
  /** `.json` or `.csv` at the end of the path, without the dot. */
  suffix: Format | undefined
  /** The format of all answers of the route, if it has one. */
  pathFormat: Format | undefined
  /** The client's permissions. The gate sets them before a handler runs. */
  access: Access = OPEN_ACCESS
  /** The operation that is called; undefined for other routes, and while only the body can tell. */
  call: OperationCall | undefined
  /** What the audit records when the request is over; undefined for nothing. */
  audited: AuditedRequest | undefined
  /** To be set where the answer has no end of its own. */
  isWatch = false
  /** Set by the server where a body is taken from the connection. */
  source: RequestBody | undefined

  /** Content-Length headers that were sent. */
  lengthCount = 0
  /** Host headers that were sent. */
  hostCount = 0

  /** In the order of `headerNames`. */
  readonly #headers = new Array<string | undefined>(headerNames.length)
  readonly #queryText: string | undefined
  #query: URLSearchParams | undefined
  #requestId: string | undefined

  #options: ResponseOptions | undefined
  #mediaType: string | undefined
  readonly #connection: Connection
  readonly #check: CallCheck

  constructor(native: EngineRequest, connection: Connection, check: CallCheck) {
    this.#connection = connection
    this.#check = check
    this.path = native.getUrl()
    this.#queryText = native.getQuery()
    readByLibrary = this
    native.forEach(copyHeader)
    const sentMethod = native.getCaseSensitiveMethod()
    this.mayHaveBody = !BODILESS.has(sentMethod)
    this.method = sentMethod === 'POST' ? this.#meantMethod() : sentMethod
  }

  /** The address of the client; `''` when the connection is gone. */
  get peerAddress(): string {
    return this.#connection.peerAddress
  }

  /** The SHA-256 of the certificate that the client showed, in hexadecimal; undefined without one. */
  get clientCertificate(): string | undefined {
    return this.#connection.clientCertificate
  }

  /** Whether the client speaks TLS with the service itself. */
  get isTls(): boolean {
    return this.#connection.isTls
  }

  /** Not to be changed: requests without a query share one. */
  get query(): URLSearchParams {
    if (!this.#queryText) return NO_QUERY
    this.#query ??= new URLSearchParams(this.#queryText)
    return this.#query
  }

  /** Whether something that looks like a key is in the query. */
  get hasKeyInQuery(): boolean {
    return this.#queryText !== undefined && this.#queryText !== '' && looksLikeKey(this.#queryText)
  }

  /** Names the request in logs: what the client sent as X-Request-Id, or our own. */
  get requestId(): string {
    this.#requestId ??= acceptedRequestId(this.header('x-request-id')) ?? nextRequestId()
    return this.#requestId
  }

  /** The trace that the client goes on with; undefined where it names none. */
  get traceParent(): TraceParent | undefined {
    const sent = this.header('traceparent')
    return sent === undefined ? undefined : traceParentOf(sent)
  }

  /**
   * The form in which the client asks for its answer.
   *
   * @throws ServiceError  when an option is not valid
   */
  get options(): ResponseOptions {
    this.#options ??= this.#readOptions()
    return this.#options
  }

  /** Whether the body is sent in chunks, so that its length is not known. */
  get isChunked(): boolean {
    return this.header('transfer-encoding') !== undefined
  }

  /** The length of the body, by its Content-Length. */
  get declaredBytes(): number {
    return Number(this.header('content-length') ?? 0)
  }

  /** Whether a body follows, and it is certain where that ends. */
  get awaitsBody(): boolean {
    if (!this.mayHaveBody) return false
    if (this.isChunked)
      return this.lengthCount === 0 && /^chunked$/i.test(this.header('transfer-encoding') ?? '')
    return this.lengthCount === 1 && this.declaredBytes > 0
  }

  /** Whether the client expects what it cannot be told that it is met (RFC 9110, 10.1.1). */
  get expectsUnknown(): boolean {
    const sent = this.header('expect')
    if (sent === undefined) return false
    const members = sent
      .toLowerCase()
      .split(',')
      .map((member) => member.trim())
    const named = members.filter((member) => member !== '')
    return named.some((member) => member !== '100-continue')
  }

  /** Whether the client may send its body only when it is told to. */
  get mayWait(): boolean {
    const sent = this.header('expect')
    return sent !== undefined && mayWait(sent) && this.awaitsBody
  }

  /** Whether the engine closes the connection behind the answer, because the client wants it. */
  get asksToClose(): boolean {
    return /\bclose\b/i.test(this.header('connection') ?? '')
  }

  header(name: HeaderName): string | undefined {
    return this.#headers[placeOf[name]]
  }

  /** The Content-Type of the body in lower case, without parameters; `''` without the header. */
  get mediaType(): string {
    this.#mediaType ??= mediaTypeOf(this.header('content-type') ?? '')
    return this.#mediaType
  }

  /** To be called once for each header as it was sent. */
  copyHeader(sentName: string, value: string): void {
    if (sentName === 'content-length') this.lengthCount++
    else if (sentName === 'host') this.hostCount++
    const place = places.get(sentName)
    if (place === undefined) return
    const earlier = this.#headers[place]
    // A list may be sent as several headers, and means the same.
    this.#headers[place] = earlier === undefined ? value : `${earlier}, ${value}`
  }

  /**
   * Names the operation where only the body could tell.
   *
   * @throws ServiceError  when this client may not call it
   */
  admit(call: OperationCall): void {
    this.call = call
    const fault = this.#check.callFault(this, call)
    if (fault !== undefined) throw fault
  }

  /** To be called when its members ask for what its key has no scope for. */
  lacksScope(): void {
    this.#check.lacksScope(this)
  }

  /** The client's permissions by now, for an answer that goes on for long. */
  accessNow(): Access {
    return this.#check.accessNow(this)
  }

  /**
   * Clients that can only POST name the verb they mean. A POST that means HEAD is a GET: its client
   * waits for the body, and would take the next answer for it.
   */
  #meantMethod(): string {
    const method = (this.#namedMethod() || 'POST').toUpperCase()
    return method === 'HEAD' ? 'GET' : method
  }

  #namedMethod(): string | undefined {
    const header = this.header(METHOD_OVERRIDE)
    if (header || !this.#queryText?.toLowerCase().includes(METHOD_OVERRIDE)) return header
    const named = [...this.query].filter(([name]) => name.toLowerCase() === METHOD_OVERRIDE)
    // Several are no verb, as several headers are none.
    return named.map(([, verb]) => verb).join(', ')
  }

  /** Most requests say what they want by two headers alone, and these are the same again and again. */
  #readOptions(): ResponseOptions {
    const { pathFormat, suffix, query } = this
    const accept = this.header('accept')
    const contentType = this.header('content-type')
    const isPlain = pathFormat === undefined && suffix === undefined && query === NO_QUERY
    const key = accept === undefined ? (contentType ?? '') : `${accept}\n${contentType ?? ''}`
    const known = isPlain ? knownOptions.get(key) : undefined
    if (known !== undefined) return known
    const options = responseOptionsOf({ pathFormat, suffix, query, accept, contentType })
    if (!isPlain) return options
    // Clients of one kind send the same, so that starting anew costs nothing.
    if (knownOptions.size === limits.knownOptionsCount) knownOptions.clear()
    knownOptions.set(key, options)
    return options
  }
}

/** By Accept and Content-Type. */
const knownOptions = new Map<string, ResponseOptions>()

/** The request that is being read. The library calls back before it returns. */
let readByLibrary: HttpRequest | undefined

/** One function for all requests. */
function copyHeader(name: string, value: string): void {
  readByLibrary?.copyHeader(name, value)
}

/** @param expected  the value of Expect */
export function mayWait(expected: string): boolean {
  return /100-continue/i.test(expected)
}

/** The media type of a Content-Type, in lower case. */
function mediaTypeOf(contentType: string): string {
  if (contentType === JSON_TYPE) return JSON_TYPE
  return contentType.split(';', 1)[0].trim().toLowerCase()
}

const JSON_TYPE = 'application/json'

/** Also a key of the query and a field of forms. */
export const METHOD_OVERRIDE = 'x-http-method-override'

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const NO_QUERY = new URLSearchParams()

/** The place of each header among those that are copied. */
const places: ReadonlyMap<string, number> = new Map(headerNames.map((name, place) => [name, place]))
const placeOf = Object.fromEntries(places) as Readonly<Record<HeaderName, number>>

const requestIdPattern = /^[\w-]{1,64}$/
const requestIdPrefix = randomBytes(6).toString('hex')
let requestCount = 0

function acceptedRequestId(sent: string | undefined): string | undefined {
  // It is logged, and a key must not be.
  const isUsable = sent !== undefined && requestIdPattern.test(sent) && !looksLikeKey(sent)
  return isUsable ? sent : undefined
}

/** Whether a text has something that looks like a key. */
function looksLikeKey(text: string): boolean {
  return /hk(_|%5f)[0-9a-z]{10}(_|%5f)[0-9A-Za-z]{10}/i.test(text)
}

function nextRequestId(): string {
  return `${requestIdPrefix}-${++requestCount}`
}

/**
 * The address of the service as its client knows it. It goes into commands to paste, links and code, so a host that is
 * not written as hosts are is not repeated.
 */
export function baseUrlOf(request: HttpRequest): string {
  const host = request.header('host')
  return `${request.isTls ? 'https' : 'http'}://${host !== undefined && HOST.test(host) ? host : 'localhost'}`
}

const HOST = /^([\w.-]{1,255}|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i
