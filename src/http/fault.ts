/**
 * What a client and the log are told when a handler fails.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { errorBody, JSON_CONTENT_TYPE } from '../format/error-body.js'
import type { Reply, ReplyHeaders } from '../selection/reply.js'

/** Answers with an error, in JSON whatever was asked for. */
export function sendError(reply: Reply, error: ServiceError, more: ReplyHeaders = {}): void {
  const headers: Record<string, string> = { 'Content-Type': JSON_CONTENT_TYPE, ...more }
  if (error.status === 503) headers['Retry-After'] = retryAfterSeconds()
  reply.send(error.status, headers, errorBody(error))
}

/** What becomes of a bug: the client learns nothing but where to look for it. */
export function internalError(requestId: string): ServiceError {
  return new ServiceError('InternalError', `something went wrong here; request id ${requestId}`)
}

/**
 * A bug as it may be logged. Messages of JSON.parse quote what was parsed and those of assert
 * show what was compared, either of which may be a request, so they are left out.
 */
export function describeFault(fault: unknown): Record<string, string | undefined> {
  if (!(fault instanceof Error)) return { fault: typeof fault }
  const quotesData = fault instanceof SyntaxError || fault.name === 'AssertionError'
  const frames = fault.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return {
    fault: fault.name,
    ...(quotesData ? {} : { faultMessage: fault.message }),
    frames: frames?.join('\n'),
  }
}

/** 1 to 3, at random, so that clients that were refused together do not return together. */
function retryAfterSeconds(): string {
  return String(1 + Math.floor(Math.random() * 3))
}
