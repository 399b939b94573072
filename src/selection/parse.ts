/**
 * First stage: makes a JSON object from the bytes of a body.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { lowerCase } from '../interface/letter-case.js'
import { limits } from '../limits.js'

export type JsonObject = { readonly [member: string]: unknown }

/**
 * Reads a body as one JSON object; an empty body is an empty object.
 *
 * @throws ServiceError  InvalidJson, InvalidRequest or TooComplex, never quoting the body
 */
export function parse(body: Uint8Array): JsonObject {
  if (isBlank(body)) return {}
  const value = parseAny(body)
  if (!isObject(value)) {
    throw new ServiceError('InvalidRequest', `the body must be a JSON object, not ${kindOf(value)}`)
  }
  return value
}

/**
 * Reads a body as any JSON value.
 *
 * @throws ServiceError  InvalidJson or TooComplex, never quoting the body
 */
export function parseAny(body: Uint8Array): unknown {
  refuseLarge(body)
  return parseJson(body)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names the JSON type of a value, for messages that must not show the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * A member of an object by its name in any letter case.
 *
 * @param names  in lower case: the name, and others that mean the same
 * @throws ServiceError  when the object has several such members: to choose one would drop another
 */
export function member(object: JsonObject, ...names: string[]): unknown {
  let found: string | undefined
  // Not by Object.keys: a request is looked at so often that its lists of names would add up.
  for (const key in object) {
    if (!names.includes(key) && !names.includes(lowerCase(key))) continue
    if (found !== undefined) {
      throw new ServiceError('InvalidRequest', `${found} is given twice, also as ${key}`, key)
    }
    found = key
  }
  return found === undefined ? undefined : object[found]
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(body: Uint8Array): unknown {
  let text: string
  try {
    text = decoder.decode(body)
  } catch {
    throw new ServiceError('InvalidJson', 'the body is not UTF-8')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's own message quotes the body, which may hold positions.
    const position = /position (\d+)/.exec((error as Error).message)?.[1]
    const where = position === undefined ? '' : ` at character ${position}`
    throw new ServiceError('InvalidJson', `the body is not JSON: unexpected text or end${where}`)
  }
}

function isBlank(body: Uint8Array): boolean {
  let at = 0
  while (SPACES.includes(body[at])) at++
  return at === body.length
}

const SPACES: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d]

/**
 * Looks at the structure of the text before it is parsed: JSON.parse and what reads its result take
 * seconds for millions of brackets, members or elements, and meanwhile nobody else is answered.
 */
function refuseLarge(body: Uint8Array): void {
  let depth = 0
  let memberCount = 0
  let itemCount = 0
  let inString = false
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === COMMA) itemCount++
    else if (byte === COLON) memberCount++
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      itemCount++
      if (++depth > limits.jsonDepthCount) {
        refuse('InvalidJson', `nests deeper than ${limits.jsonDepthCount} levels at byte ${i}`)
      }
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--
  }
  if (memberCount > limits.jsonMemberCount) {
    refuse('TooComplex', `has more than ${limits.jsonMemberCount} members`)
  }
  if (itemCount > limits.jsonItemCount) {
    refuse('TooComplex', `has more than ${limits.jsonItemCount} arrays, objects and commas`)
  }
}

function refuse(code: ServiceErrorCode, problem: string): never {
  throw new ServiceError(code, `the body ${problem}`)
}

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] =
  new TextEncoder().encode('"\\,:[]{}')
