/**
 * Whether it is certain where a request ends. Two servers in a row that disagree on that take a part
 * of one request for another one, which somebody else may have written.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { IncomingRequest } from './request.js'

/**
 * Why the end of a request is not certain. Its connection must be closed, and nothing behind it read.
 *
 * @returns undefined when it is
 */
export function framingFault(request: IncomingRequest): ServiceError | undefined {
  if (request.header('transfer-encoding') !== undefined) {
    // The HTTP library misreads the extensions of chunks (RFC 9112, 7.1.1) and shows them to nobody.
    return new ServiceError(
      'LengthRequired',
      'a body must have a Content-Length; chunks are not read',
    )
  }
  if (request.lengthCount > 1) return invalid('there is more than one Content-Length header')
  if (request.hostCount > 1) return invalid('there is more than one Host header')
  const length = request.header('content-length')
  if (length !== undefined && !/^\d+$/.test(length)) return invalid('Content-Length is no number')
  return undefined
}

function invalid(message: string): ServiceError {
  return new ServiceError('InvalidRequest', message)
}
