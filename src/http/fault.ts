/**
 * Tells the client and the log about a request that fails.
 *
 * @module
 */
import { OVERLOADED, ServiceError, TooManyRequests } from '../errors.js'
import { type ErrorMeta, errorBody } from '../format/error-body.js'
import { type Format, formats } from '../format/formats.js'
import { JSONP_CONTENT_TYPE, jsonp } from '../format/jsonp.js'
import type { Reply } from '../selection/reply.js'
import { BatchStopped, COMPLETED_HEADER } from './batch.js'
import { DEFAULT_OPTIONS, type ResponseOptions } from './response/response-options.js'

/** The path is known, but does not have this verb. */
export class MethodNotAllowed extends ServiceError {
  /** As the header Allow lists them. */
  readonly allow: string

  constructor(allow: string) {
    super('MethodNotAllowed', `allowed here: ${allow}`)
    this.allow = allow
  }
}

/**
 * Answers with an error. A script that calls back is sent with status 200, since no browser would
 * run it with another.
 */
export function sendError(
  reply: Pick<Reply, 'send'>,
  fault: ServiceError | BatchStopped,
  options: ResponseOptions = DEFAULT_OPTIONS,
): void {
  const error = fault instanceof BatchStopped ? fault.fault : fault
  const { format, callback } = options
  const headers: Record<string, string> = {}
  if (error.status === 503) headers['Retry-After'] = retryAfterSeconds()
  if (error instanceof TooManyRequests) {
    headers['Retry-After'] = String(Math.ceil(error.retryAfterMs / 1_000))
  }
  if (error.status === 401) headers['WWW-Authenticate'] = CHALLENGE
  // RFC 9110, 15.5.6: a 405 always has it. Without an operation, no verb is allowed.
  if (error.status === 405) headers.Allow = error instanceof MethodNotAllowed ? error.allow : ''
  if (fault instanceof BatchStopped) headers[COMPLETED_HEADER] = String(fault.completedCount)
  if (callback !== undefined) {
    headers['Content-Type'] = JSONP_CONTENT_TYPE
    reply.send(200, headers, jsonp(callback, errorBody(error, format, metaOf(fault))))
  } else {
    headers['Content-Type'] = formats[format].otherContentType
    const isOverloaded = fault === OVERLOADED
    const body = isOverloaded ? overloadedBody(format) : errorBody(error, format, metaOf(fault))
    reply.send(error.status, headers, body)
  }
}

/** RFC 9110, 11.6.1: both ways to show a key. */
const CHALLENGE = 'Bearer realm="hickory", Basic realm="hickory", charset="UTF-8"'

function metaOf(fault: ServiceError | BatchStopped): ErrorMeta | undefined {
  if (!(fault instanceof BatchStopped)) return undefined
  return { AutoBatchIndex: String(fault.completedCount) }
}

/** Made once for each format: a service that is full and takes long to say so stays full. */
function overloadedBody(format: Format): Uint8Array {
  const body = overloadedBodies.get(format) ?? Buffer.from(errorBody(OVERLOADED, format))
  overloadedBodies.set(format, body)
  return body
}

const overloadedBodies = new Map<Format, Uint8Array>()

/** 1 to 3 seconds, at random, so that clients that were refused together do not return together. */
export function retryAfterSeconds(): string {
  return choices[Math.floor(Math.random() * choices.length)]
}

const choices = ['1', '2', '3'] as const

/** A bug, as a client sees it: an id to look for in the log, and nothing else. */
export function internalError(requestId: string): ServiceError {
  return new ServiceError('InternalError', `something went wrong here; request id ${requestId}`)
}
