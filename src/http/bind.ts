/**
 * Collects the members of a request from its body, path, query and headers.
 *
 * On the paths of an operation, a form overrides the query, the query overrides variables of the path,
 * and these override a body of JSON. If the path names the operation, the body overrides the query.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { parseJsv } from '../format/jsv-parse.js'
import { declaredNames, givenTwice, lowerCase } from '../interface/letter-case.js'
import type { Operation } from '../interface/operation.js'
import { isReserved } from '../interface/reserved-members.js'
import { type JsonObject, member } from '../selection/parse.js'
import { type BodyContent, readBatch } from './read-body.js'
import type { HttpRequest } from './request.js'

/** @throws ServiceError */
export function bindOnPath(
  request: HttpRequest,
  operation: Operation,
  content: BodyContent,
): JsonObject {
  const isForm = content.kind === 'form'
  let members = overlay(isForm ? {} : content.members, request.parameters)
  if (request.query.size > 0) members = overlay(members, queryOf(request, operation, content))
  if (isForm) members = overlay(members, membersOf(content.fields, operation))
  return withIdempotencyKey(request, operation, members)
}

/** @throws ServiceError */
export function bindByName(
  request: HttpRequest,
  operation: Operation,
  content: BodyContent,
): JsonObject {
  const isForm = content.kind === 'form'
  let members = isForm ? membersOf(content.fields, operation) : content.members
  if (request.query.size > 0) members = overlay(queryOf(request, operation, content), members)
  return withIdempotencyKey(request, operation, members)
}

/** The members in the query. Where the body is a drawing, the query may not name the same member: one would be lost. */
function queryOf(request: HttpRequest, operation: Operation, content: BodyContent): JsonObject {
  const members = membersOf(request.query, operation)
  if (content.kind === 'form' || content.isDrawing === undefined) return members
  const drawn = new Set(Object.keys(content.members).map(lowerCase))
  for (const name in members) {
    if (!drawn.has(lowerCase(name))) continue
    const problem = `${name} is in the query, and the body is one as well`
    throw new ServiceError('InvalidRequest', problem, name)
  }
  return members
}

/**
 * The requests of a batch. Members in the query are refused: they would belong to no request of it.
 *
 * @throws ServiceError
 */
export function bindBatch(
  request: HttpRequest,
  operation: Operation,
  body: Uint8Array,
): readonly JsonObject[] {
  const [name] = Object.keys(membersOf(request.query, operation))
  if (name !== undefined) {
    const problem = 'is in the query, but a batch has the members of its requests in its body'
    throw new ServiceError('InvalidRequest', `${name} ${problem}`, name)
  }
  return readBatch(body)
}

/**
 * Reads members that come as text, from a query, a form or a path. Those that the schema of the operation declares as
 * objects or lists are read as JSV or JSON; all others stay text, which is valid where a number, a flag or a Guid is
 * valid. Names without a value, and names that are not for the operation, are left out.
 */
function membersOf(
  fields: Iterable<readonly [name: string, text: string]>,
  { request }: Operation,
): JsonObject {
  const members: Record<string, unknown> = {}
  const names = declaredNames(request)
  const { properties = {} } = request as { properties?: Record<string, MemberSchema> }
  const keys = new Map<string, string>()
  for (const [name, text] of fields) {
    const key = lowerCase(name)
    if (text === '' || isReserved(key)) continue
    const declared = names.get(key)
    if (declared === undefined) {
      members[name] = text
      continue
    }
    const first = keys.get(key)
    if (first !== undefined) throw givenTwice(first, name)
    keys.set(key, name)
    // URLSearchParams leaves this sign in place of bytes that are not UTF-8.
    if (text.includes('\ufffd')) {
      throw new ServiceError('InvalidRequest', `${name} is not UTF-8`, name)
    }
    members[name] = readField(name, text, properties[declared])
  }
  return members
}

/**
 * The members of `over`, and those of `base` that it does not have in any letter case.
 *
 * @throws ServiceError  InvalidRequest, where one that is left out is given in two spellings
 */
function overlay(base: JsonObject, over: JsonObject): JsonObject {
  const overNames = Object.keys(over)
  if (overNames.length === 0) return base
  const names = new Set(overNames.map(lowerCase))
  const leftOut = new Map<string, string>()
  const kept = Object.entries(base).filter(([name, value]) => {
    const key = lowerCase(name)
    if (!names.has(key)) return true
    if (value === null || value === undefined) return false
    const first = leftOut.get(key)
    if (first !== undefined) throw givenTwice(first, name)
    leftOut.set(key, name)
    return false
  })
  return { ...Object.fromEntries(kept), ...over }
}

interface MemberSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
}

const SCALARS = ['string', 'number', 'integer', 'boolean']

function readField(name: string, text: string, { type, enum: values }: MemberSchema): unknown {
  if (values !== undefined || SCALARS.includes(type ?? '')) return text
  // XML where a text or an object may be, such as an alert: JSV would cut it at its quotes.
  if (type === undefined && /^\ufeff?\s*</.test(text)) return text
  const isBareList = type === 'array' && !text.trimStart().startsWith('[')
  return parseJsv(isBareList ? `[${text}]` : text, name)
}

/**
 * Adds the member that the header Idempotency-Key has (draft-ietf-httpapi-idempotency-key-header): a string in quotes,
 * as structured fields write it (RFC 9651, 3.3.3). Many clients leave the quotes out.
 *
 * @throws ServiceError  where the request has another value of that member
 */
function withIdempotencyKey(
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
