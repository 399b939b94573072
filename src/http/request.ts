/**
 * What a handler sees of a request. Everything is copied at once: the native request is gone as
 * soon as the native handler returns.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { ServiceError } from '../errors.js'
import type { Format } from '../format/negotiate.js'
import type { Reply } from '../selection/reply.js'
import type { RequestBody } from './body.js'
import type { NativeRequest } from './uws.js'

/** The headers that are copied; a handler that needs another one adds it here. */
const headerNames = [
  'accept',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'x-request-id',
] as const

export type HeaderName = (typeof headerNames)[number]

export interface HttpRequest {
  /** As sent; HEAD where the handler of GET is asked for headers only. */
  readonly method: string
  /** As sent, without the query. */
  readonly path: string
  /** Variables of the route, decoded. */
  readonly parameters: Readonly<Record<string, string>>
  /** Not to be changed: requests without a query share one. */
  readonly query: URLSearchParams
  /** `.json` or `.csv` at the end of the path, without the dot. */
  readonly suffix: Format | undefined
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
  readonly path: string
  parameters: Readonly<Record<string, string>> = {}
  suffix: Format | undefined
  /** Set by the server where the verb has a body. */
  source: RequestBody | undefined

  /** Content-Length headers that were sent. */
  lengthCount = 0

  readonly #headers: Partial<Record<HeaderName, string>> = {}
  readonly #queryText: string | undefined
  #query: URLSearchParams | undefined
  #requestId: string | undefined

  constructor(native: NativeRequest) {
    this.method = native.getCaseSensitiveMethod()
    this.path = native.getUrl()
    this.#queryText = native.getQuery()
    native.forEach((name, value) => {
      this.#copyHeader(name, value)
    })
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

  #copyHeader(sentName: string, value: string): void {
    if (sentName === 'content-length') this.lengthCount++
    if (!isNeeded(sentName)) return
    const earlier = this.#headers[sentName]
    // A list may be sent as several headers, and means the same.
    this.#headers[sentName] = earlier === undefined ? value : `${earlier}, ${value}`
  }
}

/**
 * Refuses what two servers in a row could understand differently. The connection of such a
 * request must be closed, because it is not certain where the request ends.
 *
 * @throws ServiceError
 */
export function checkFraming(request: IncomingRequest): void {
  if (request.lengthCount > 1) {
    throw new ServiceError('InvalidRequest', 'there is more than one Content-Length header')
  }
  const coding = request.header('transfer-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new ServiceError('InvalidRequest', 'the only Transfer-Encoding understood is chunked')
  }
}

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
