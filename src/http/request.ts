/**
 * What a handler sees of a request. Everything is copied at once: the native request is gone as
 * soon as the native handler returns.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Format } from '../format/negotiate.js'
import type { Reply } from '../selection/reply.js'
import type { RequestBody } from './body.js'
import type { NativeRequest } from './uws.js'

/** The headers that are copied; a handler that needs another one adds it here. */
const headerNames = [
  'accept',
  'accept-encoding',
  'access-control-request-method',
  'content-encoding',
  'content-length',
  'content-type',
  'forwarded',
  'host',
  'if-none-match',
  'origin',
  'referer',
  'sec-fetch-site',
  'transfer-encoding',
  'via',
  'x-forwarded-for',
  'x-http-method-override',
  'x-real-ip',
  'x-request-id',
] as const

export type HeaderName = (typeof headerNames)[number]

export interface HttpRequest {
  /** HEAD where the handler of GET is asked for headers only; a POST may say it means another. */
  readonly method: string
  /** Whether the verb that was sent, whatever it means, may have a body. */
  readonly mayHaveBody: boolean
  /** As sent, without the query. */
  readonly path: string
  /** Variables of the route, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Not to be changed: requests without a query share one. */
  readonly query: URLSearchParams
  /** `.json` or `.csv` at the end of the path, without the dot. */
  readonly suffix: Format | undefined
  /** What the route says of the format of its answers. */
  readonly pathFormat: Format | undefined
  /** The address of the other end of the connection; `''` when it is gone. */
  readonly peerAddress: string
  /** Names the request in logs: what the client sent as X-Request-Id, or our own. */
  readonly requestId: string
  header(name: HeaderName): string | undefined
  /**
   * The whole body, which may be a view into a larger, shared buffer: copy before transferring.
   *
   * @throws ServiceError when it is too large; ClientGone when it will never arrive
   */
  body(): Promise<Uint8Array>
}

/** An async handler has answered, or begun to, when its promise resolves. */
export type Handler = (request: HttpRequest, reply: Reply) => void | Promise<void>

export class IncomingRequest implements HttpRequest {
  readonly method: string
  readonly mayHaveBody: boolean
  readonly path: string
  parameters: Readonly<Record<string, string>> = {}
  suffix: Format | undefined
  pathFormat: Format | undefined
  /** Set by the server where the verb has a body. */
  source: RequestBody | undefined

  /** Content-Length headers that were sent. */
  lengthCount = 0
  /** Host headers that were sent. */
  hostCount = 0

  readonly #headers: Partial<Record<HeaderName, string>> = {}
  readonly #queryText: string | undefined
  #query: URLSearchParams | undefined
  #requestId: string | undefined

  readonly #peer: () => string

  /** @param peer  tells the address of the other end */
  constructor(native: NativeRequest, peer: () => string) {
    this.#peer = peer
    this.path = native.getUrl()
    this.#queryText = native.getQuery()
    native.forEach((name, value) => {
      this.#copyHeader(name, value)
    })
    const sentMethod = native.getCaseSensitiveMethod()
    this.mayHaveBody = !BODILESS.has(sentMethod)
    this.method = sentMethod === 'POST' ? this.#meantMethod() : sentMethod
  }

  get peerAddress(): string {
    return this.#peer()
  }

  get query(): URLSearchParams {
    if (!this.#queryText) return NO_QUERY
    this.#query ??= new URLSearchParams(this.#queryText)
    return this.#query
  }

  get requestId(): string {
    this.#requestId ??= acceptedRequestId(this.#headers['x-request-id']) ?? nextRequestId()
    return this.#requestId
  }

  header(name: HeaderName): string | undefined {
    return this.#headers[name]
  }

  body(): Promise<Uint8Array> {
    return this.source?.read() ?? Promise.resolve(NO_BYTES)
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
    const header = this.#headers[METHOD_OVERRIDE]
    if (header || !this.#queryText?.toLowerCase().includes(METHOD_OVERRIDE)) return header
    return [...this.query].find(([name]) => name.toLowerCase() === METHOD_OVERRIDE)?.[1]
  }

  #copyHeader(sentName: string, value: string): void {
    if (sentName === 'content-length') this.lengthCount++
    else if (sentName === 'host') this.hostCount++
    if (!isNeeded(sentName)) return
    const earlier = this.#headers[sentName]
    // A list may be sent as several headers, and means the same.
    this.#headers[sentName] = earlier === undefined ? value : `${earlier}, ${value}`
  }
}

/** Also a key of the query and a field of forms. */
export const METHOD_OVERRIDE = 'x-http-method-override'

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const NO_QUERY = new URLSearchParams()
const NO_BYTES = new Uint8Array(0)

const needed: ReadonlySet<string> = new Set(headerNames)

function isNeeded(name: string): name is HeaderName {
  return needed.has(name)
}

const requestIdPattern = /^[\w-]{1,64}$/
const requestIdPrefix = randomBytes(6).toString('hex')
let requestCount = 0

function acceptedRequestId(sent: string | undefined): string | undefined {
  return sent !== undefined && requestIdPattern.test(sent) ? sent : undefined
}

function nextRequestId(): string {
  return `${requestIdPrefix}-${++requestCount}`
}
