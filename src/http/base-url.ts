/**
 * The address of the service as its client knows it.
 *
 * @module
 */
import type { HttpRequest } from './request.js'

/** It goes into commands to paste, links and code, so a host that is not written as hosts are is not repeated. */
export function baseUrlOf(request: HttpRequest): string {
  const host = request.header('host')
  return `${request.isTls ? 'https' : 'http'}://${host !== undefined && HOST.test(host) ? host : 'localhost'}`
}

const HOST = /^([\w.-]{1,255}|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i
