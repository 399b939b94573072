/**
 * Reads members of a request that come as text, from a query, a form or a path. Members that the
 * schema of the operation declares as objects or lists are read as JSV or JSON. All others stay text.
 * Text is valid wherever a number, a flag or a Guid is valid.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { parseJsv } from '../format/jsv-parse.js'
import { declaredNames, givenTwice, lowerCase } from '../interface/letter-case.js'
import type { Operation } from '../interface/operation.js'
import { isReserved } from '../interface/reserved-members.js'
import type { JsonObject } from '../selection/parse.js'

/** Reads named texts. Names without a value, and names that are not for the operation, are left out. */
export function membersOf(
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
export function overlay(base: JsonObject, over: JsonObject): JsonObject {
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
