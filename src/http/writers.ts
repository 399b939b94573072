/**
 * Who may change what is stored. Nobody authenticates here, so only programs on this machine may,
 * and neither a proxy in front of them nor a page in a browser may speak for others.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { CorsOrigins } from './cors.js'
import type { HttpRequest } from './request.js'

/** @throws ServiceError  Forbidden */
export function refuseForeignWrite(request: HttpRequest, origins: CorsOrigins): void {
  if (!LOOPBACK.test(request.peerAddress)) refuse('only programs on this machine may write')
  if (PROXY_HEADERS.some((name) => request.header(name) !== undefined)) {
    refuse('only programs on this machine may write, and this request was forwarded')
  }
  const origin = request.header('origin')
  if (origin !== undefined && !origins.includes(origin) && !isLocal(origin)) {
    refuse('pages of this origin may not write')
  }
}

/** As the HTTP library writes addresses: IPv6 in full, IPv4 there as the last two groups. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|(0000:){5}(0000:0000:0001|ffff:7f[\da-f]{2}:[\da-f]{4}))$/i

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const

/** A page that this machine serves. Not compared with Host, which a page can choose (DNS rebinding). */
function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(origin)
}

function refuse(why: string): never {
  throw new ServiceError('Forbidden', why)
}
