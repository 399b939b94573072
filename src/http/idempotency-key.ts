/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a string in quotes, as structured
 * fields write it (RFC 9651, 3.3.3). Many clients leave the quotes out.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Operation } from '../interface/operation.js'
import { type JsonObject, member } from '../selection/parse.js'
import type { HttpRequest } from './request.js'

/**
 * The members of a request, and among them the one that the header has.
 *
 * @throws ServiceError  where both have it, and not the same
 */
export function withIdempotencyKey(
  request: HttpRequest,
  { idempotencyMember: name }: Operation,
  members: JsonObject,
): JsonObject {
  if (name === undefined) return members
  const sent = request.header('idempotency-key')
  if (sent === undefined) return members
  const key = keyIn(sent)
  const given = member(members, name.toLowerCase()) ?? undefined
  if (given === undefined) return { ...members, [name]: key }
  if (String(given) === key) return members
  const problem = 'is another one than the header Idempotency-Key has'
  throw new ServiceError('InvalidRequest', `${name} ${problem}`, name)
}

function keyIn(sent: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(sent) ?? []
  const key = quoted === undefined ? sent : quoted.replace(/\\(.)/g, '$1')
  if (quoted === undefined ? BARE.test(key) : PRINTABLE.test(key)) return key
  throw new ServiceError(
    'InvalidRequest',
    'the header Idempotency-Key must be printable ASCII in quotes',
    'Idempotency-Key',
  )
}

const PRINTABLE = /^[\x20-\x7e]+$/
/** Without quotes, several of them would not be told from one. */
const BARE = /^[\x21\x23-\x2b\x2d-\x7e]+$/
