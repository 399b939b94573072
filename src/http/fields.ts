/**
 * Members of a request that come as text, from a query, a form or a path: by the schema of the
 * operation, those that are objects or lists are read as JSV or JSON. All else stays text, which is
 * understood wherever a number, a flag or a Guid is.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { parseJsv } from '../format/jsv-parse.js'
import type { Operation } from '../interface/operations.js'
import type { JsonObject } from '../selection/parse.js'

/** Reads named texts; those without a value, and those that are not for the operation, are left out. */
export function membersOf(
  fields: Iterable<readonly [name: string, text: string]>,
  { request }: Operation,
): JsonObject {
  const members: Record<string, unknown> = {}
  const texts = new Map<string, string>()
  for (const [name, text] of fields) {
    const key = name.toLowerCase()
    if (text === '' || RESERVED.has(key)) continue
    if (texts.has(key)) {
      throw new ServiceError('InvalidRequest', `${name} is given twice`, name)
    }
    texts.set(key, text)
    members[name] = readField(name, text, schemaOf(request, key))
  }
  return members
}

/** `over` goes before `base`, whatever the letter case of a name. */
export function overlay(base: JsonObject, over: JsonObject): JsonObject {
  const overNames = Object.keys(over)
  if (overNames.length === 0) return base
  const names = new Set(overNames.map((name) => name.toLowerCase()))
  const kept = Object.entries(base).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...over }
}

/** Keys of a query that say how to answer, or that clients of ServiceStack add to any request. */
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
])

interface MemberSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
}

/** Members that are not known are one text. */
function schemaOf(schema: object, key: string): MemberSchema {
  const { properties = {} } = schema as { properties?: Record<string, MemberSchema> }
  const name = Object.keys(properties).find((candidate) => candidate.toLowerCase() === key)
  return name === undefined ? { type: 'string' } : properties[name]
}

const SCALARS = ['string', 'number', 'integer', 'boolean']

function readField(name: string, text: string, { type, enum: values }: MemberSchema): unknown {
  if (values !== undefined || SCALARS.includes(type ?? '')) return text
  const isBareList = type === 'array' && !text.trimStart().startsWith('[')
  return parseJsv(isBareList ? `[${text}]` : text, name)
}
