/**
 * What a client and the log are told when a handler fails.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { CONTENT_TYPES, type ErrorMeta, errorBody } from '../format/error-body.js'
import { JSONP_CONTENT_TYPE, jsonp } from '../format/jsonp.js'
import type { Reply } from '../selection/reply.js'
import { BatchStopped, COMPLETED_HEADER } from './batch.js'
import { retryAfterSeconds } from './retry-after.js'
import { PLAIN, type Wishes } from './wishes.js'

/** A path that is known, asked with a verb that it does not have. */
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
  wishes: Wishes = PLAIN,
): void {
  const error = fault instanceof BatchStopped ? fault.fault : fault
  const headers: Record<string, string> = {}
  if (error.status === 503) headers['Retry-After'] = retryAfterSeconds()
  // RFC 9110, 15.5.6: always there; where there is no operation, no verb is allowed.
  if (error.status === 405) headers.Allow = error instanceof MethodNotAllowed ? error.allow : ''
  if (fault instanceof BatchStopped) headers[COMPLETED_HEADER] = String(fault.completedCount)
  const { format, callback } = wishes
  const body = errorBody(error, format, metaOf(fault))
  if (callback !== undefined) {
    headers['Content-Type'] = JSONP_CONTENT_TYPE
    reply.send(200, headers, jsonp(callback, body))
  } else {
    headers['Content-Type'] = CONTENT_TYPES[format]
    reply.send(error.status, headers, body)
  }
}

function metaOf(fault: ServiceError | BatchStopped): ErrorMeta | undefined {
  if (!(fault instanceof BatchStopped)) return undefined
  return { AutoBatchIndex: String(fault.completedCount) }
}

/** What becomes of a bug: the client learns nothing but where to look for it. */
export function internalError(requestId: string): ServiceError {
  return new ServiceError('InternalError', `something went wrong here; request id ${requestId}`)
}
