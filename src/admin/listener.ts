/**
 * The listener for operators: metrics and health. It is in the main thread and apart from that of the clients, so
 * that it answers while they do not. It asks for no key, hence it takes connections of this machine alone, and none
 * for a name that a page may have chosen.
 *
 * @module
 */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import {
  createExposition,
  type ExpositionForm,
  OPEN_FORM,
  type Readings,
  TEXT_FORM,
} from '../metrics/exposition.js'
import type { MetricsMemory } from '../metrics/memory.js'

interface AdminRequest {
  /** The header Accept; `''` without one. */
  readonly accept: string
}

interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export type AdminRoute = (request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>

export interface AdminListener {
  /** The one the system chose when 0 was asked for. */
  readonly port: number
  /** Closes every connection, at once. */
  close(): void
}

interface AdminListenerOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly routes: Readonly<Record<string, AdminRoute>>
  readonly log: Log
  /** Those of `limits` by default. */
  readonly bounds?: Partial<AdminBounds>
}

/** The names are those of `limits`. */
type AdminBounds = Readonly<
  Record<'adminConnectionCount' | 'adminHeadMs' | 'adminAnswerMs', number>
>

/** @throws OperatorError  when it cannot listen there */
export async function listenForAdmin(options: AdminListenerOptions): Promise<AdminListener> {
  const { host, port, log } = options
  const { adminConnectionCount, adminHeadMs, adminAnswerMs } = { ...limits, ...options.bounds }
  const routes = new Map(Object.entries(options.routes))
  const server = createServer({
    headersTimeout: adminHeadMs,
    requestTimeout: adminHeadMs,
    connectionsCheckingInterval: Math.min(1_000, adminHeadMs),
    keepAliveTimeout: adminHeadMs,
    maxHeaderSize: limits.adminHeadBytes,
  })
  // Further ones are closed as they come.
  server.maxConnections = adminConnectionCount
  server.maxRequestsPerSocket = limits.adminRequestsPerConnectionCount
  // A client that neither sends nor reads.
  server.timeout = limits.adminSilentMs
  server.on('request', (request, response) => {
    void answerOne(routes, request, response, adminAnswerMs).catch((fault) => {
      log.error(describeFault(fault), 'the admin listener failed to answer')
      response.destroy()
    })
  })
  await listening(server, host, port)
  server.on('error', (fault) => log.error(describeFault(fault), 'the admin listener failed'))
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    throw new OperatorError(
      'AddressInUse',
      `cannot listen for admin requests on ${host} port ${port} (${code}): choose another one with ` +
        '--admin-port',
    )
  }
}

async function answerOne(
  routes: ReadonlyMap<string, AdminRoute>,
  request: IncomingMessage,
  response: ServerResponse,
  answerMs: number,
): Promise<void> {
  // What is sent beside the head is not read.
  request.resume()
  const answer = await answerTo(routes, request)
  if (response.destroyed) return
  // A client that reads a byte now and then is not silent.
  const late = setTimeout(() => response.destroy(), answerMs)
  response.once('close', () => clearTimeout(late))
  const { status, contentType, body, headers } = answer
  response.writeHead(status, {
    ...COMMON_HEADERS,
    ...headers,
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    ...(request.method !== 'GET' && { Connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? '' : body)
}

const COMMON_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
}

function answerTo(
  routes: ReadonlyMap<string, AdminRoute>,
  { method, url = '/', headers }: IncomingMessage,
): AdminAnswer | Promise<AdminAnswer> {
  if (!isLoopbackName(headers.host)) return plainAnswer(403, 'only by a name of this machine')
  if (isOfForeignPage(headers))
    return plainAnswer(403, 'not for pages of another origin: enter the address by hand')
  const queryStart = url.indexOf('?')
  const path = queryStart < 0 ? url : url.slice(0, queryStart)
  const route = routes.get(path)
  if (route === undefined) return plainAnswer(404, `there are ${[...routes.keys()].join(', ')}`)
  if (method !== 'GET' && method !== 'HEAD') {
    return { ...plainAnswer(405, 'allowed here: GET, HEAD'), headers: { Allow: 'GET, HEAD' } }
  }
  return route({ accept: headers.accept ?? '' })
}

export function plainAnswer(status: number, text: string): AdminAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n` }
}

/** A page whose name was made to mean this machine would be let in otherwise (DNS rebinding). */
function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}

/**
 * A page of another origin cannot read the answer, but could ask again and again. Browsers say which page asks (Fetch
 * Metadata), and old ones name the origin in some requests.
 */
function isOfForeignPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined) return headers.origin !== undefined
  return site !== 'same-origin' && site !== 'none'
}

/**
 * `/metrics`: all metrics, in the form that the scraper asks for. What was written a moment ago is given to
 * further scrapers, so that many of them cost as much as one.
 */
export function metricsRoute(memory: MetricsMemory, readings: Readings): AdminRoute {
  const write = createExposition(memory, readings)
  const known = new Map<ExpositionForm, { readonly atMs: number; text: Promise<Uint8Array> }>()
  return async ({ accept }) => {
    const form = accept.split(',').some(isOpen) ? OPEN_FORM : TEXT_FORM
    let last = known.get(form)
    if (last === undefined || performance.now() - last.atMs >= limits.scrapeKeptMs) {
      last = { atMs: performance.now(), text: write(form).then((text) => Buffer.from(text)) }
      known.set(form, last)
    }
    return { status: 200, contentType: form, body: await last.text }
  }
}

/** An entry of Accept with the weight 0 is one that is not wanted (RFC 9110, 12.4.2). */
function isOpen(entry: string): boolean {
  const [type, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
  return (
    type === 'application/openmetrics-text' && !parameters.some((each) => NOT_WANTED.test(each))
  )
}

const NOT_WANTED = /^q=0(\.0*)?$/
