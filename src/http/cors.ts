/**
 * Which pages of other origins may read answers (Fetch Standard, CORS protocol). None, unless the
 * configuration names them.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { ReplyHeaders } from '../selection/reply.js'
import { COMMON_HEADERS } from './exchange.js'
import type { HttpRequest } from './request.js'

/** Origins such as `https://map.example.org`. `*` is every origin, without credentials. */
export type CorsOrigins = readonly string[]

/** The headers that go with every answer to this request. */
export function commonHeadersFor(request: HttpRequest, origins: CorsOrigins): ReplyHeaders {
  if (origins.length === 0) return COMMON_HEADERS
  const origin = request.header('origin')
  const isForAll = origins.includes('*')
  const vary = isForAll ? COMMON_HEADERS.Vary : `${COMMON_HEADERS.Vary}, Origin`
  const headers = { ...COMMON_HEADERS, Vary: vary }
  if (origin === undefined || !(isForAll || origins.includes(origin))) return headers
  return {
    ...headers,
    ...(isForAll
      ? { 'Access-Control-Allow-Origin': '*' }
      : { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' }),
    'Access-Control-Expose-Headers': EXPOSED,
  }
}

/**
 * Why a page may not load an answer as a script; undefined when it may. The page that loads a script
 * can read it, even if it is of another origin. So an origin may load scripts if it may read answers
 * otherwise. Browsers say which page asks (Fetch Metadata).
 */
export function foreignScriptFault(
  request: HttpRequest,
  origins: CorsOrigins,
): ServiceError | undefined {
  const site = request.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined
  const page = originOf(request.header('referer'))
  if (origins.includes('*') || (page !== undefined && origins.includes(page))) return undefined
  return new ServiceError('Forbidden', 'pages of this origin may not read answers', 'callback')
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined
}

/** The further headers for a browser that asks before it sends a request. */
export function preflightHeaders(request: HttpRequest, allow: string): ReplyHeaders {
  if (request.header('access-control-request-method') === undefined) return { Allow: allow }
  return {
    Allow: allow,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': acceptedNames(request.header('access-control-request-headers')),
    'Access-Control-Max-Age': '600',
  }
}

/**
 * The names of headers that a page may send: those that it asks for. Gateways, tracing and client libraries
 * add headers that no list would foresee, and none of them allows more than a request without it. Where the
 * browser names none, or what no browser does, those that clients of this interface send.
 */
function acceptedNames(asked: string | undefined): string {
  if (asked === undefined || asked.length > limits.preflightHeaderCharCount) return USUAL_NAMES
  const names = asked.split(',').map((name) => name.trim())
  const isUsable = names.length <= limits.preflightHeaderCount && names.every(isToken)
  return isUsable ? names.join(', ') : USUAL_NAMES
}

/** RFC 9110, 5.6.2. */
function isToken(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name)
}

const EXPOSED =
  'Content-Disposition, ETag, Retry-After, Server-Timing, WWW-Authenticate, X-Audience, ' +
  'X-Audience-Digest, X-Audience-Suppressed, X-AutoBatch-Completed, X-Coverage, ' +
  'X-Next-After, X-Request-Id, X-Sequence, X-Snapshot, X-Warnings'
const USUAL_NAMES =
  'Accept, Authorization, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, Traceparent, ' +
  'Tracestate, X-HTTP-Method-Override, X-Request-Id, X-Requested-With, X-Server-Timing'
