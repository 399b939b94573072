/**
 * Members of any request that say how to answer, or that clients of ServiceStack add by themselves. They
 * are never unknown, and never of an operation.
 *
 * @module
 */
import { lowerCase } from './letter-case.js'

/** By name in any letter case. */
export function isReserved(name: string): boolean {
  return RESERVED.has(lowerCase(name))
}

const RESERVED: ReadonlySet<string> = new Set([
  'format',
  'callback',
  'layout',
  'x-http-method-override',
  '_',
  'apikey',
  'authsecret',
  'code',
  'continue',
  'debug',
  'f',
  'jsconfig',
  'redirect',
  's',
  'session_state',
  'v',
  'version',
  'vfx',
  'withoutoptions',
  // Members of request types by interfaces of ServiceStack, and what its serializers add.
  'bearertoken',
  'sessionid',
  '__type',
  '$type',
  'meta',
])
