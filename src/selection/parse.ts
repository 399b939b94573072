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
 * @param insteadOfArray  what to send instead of an array, for the error
 * @throws ServiceError  InvalidJson, InvalidRequest or TooComplex, never quoting the body
 */
export function parse(body: Uint8Array, insteadOfArray = MANY_REQUESTS): JsonObject {
  if (isBlank(body)) return {}
  const value = parseAny(body)
  if (!isObject(value)) {
    const advice = Array.isArray(value)
      ? insteadOfArray
      : typeof value === 'string'
        ? ': JSON that is a text in JSON was written twice'
        : ''
    const problem = `must be a JSON object, not ${kindOf(value)}${advice}`
    throw new ServiceError('InvalidRequest', `the body ${problem}`)
  }
  return value
}

const MANY_REQUESTS = ': several requests are sent to /json/reply/{Operation}[]'

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

/** What is wrong with bytes that are not UTF-8: a zip is mostly a shapefile, or a KMZ under no type. */
export function noText(body: Uint8Array): string {
  if (!ZIP.every((byte, i) => body[i] === byte)) return 'the body is not UTF-8'
  return (
    'the body, or a file in its form, is a ZIP: a KMZ is sent by itself as ' +
    'Content-Type: application/vnd.google-earth.kmz; a shapefile is not read here: ' +
    'hickory areas import takes it, or convert it to GeoJSON'
  )
}

const ZIP = [0x50, 0x4b, 0x03, 0x04]

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(body: Uint8Array): unknown {
  let text: string
  try {
    text = decoder.decode(body)
  } catch {
    throw new ServiceError('InvalidJson', noText(body))
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The engine's own message quotes the body, which may hold positions.
    const position = /position (\d+)/.exec((error as Error).message)?.[1]
    const where = position === undefined ? '' : ` at character ${position}`
    const problem = `the body is not JSON: unexpected text or end${where}${adviceFor(text)}`
    throw new ServiceError('InvalidJson', problem)
  }
  if (mayHoldHalfPair(text)) refuseHalfPairs(value, '')
  return value
}

/** What was perhaps sent instead of JSON. */
function adviceFor(text: string): string {
  const advice = LIKELY.find(([pattern]) => pattern.test(text))?.[1]
  return advice === undefined ? '' : `; ${advice}`
}

/** None looks far: the text may be long. */
const LIKELY: readonly (readonly [RegExp, string])[] = [
  [/^\s{0,9}\[object /, 'an object was sent as its name: write it by JSON.stringify'],
  [/^\s{0,9}[[{]\s{0,9}'/, 'JSON has double quotes: write an object of Python by json.dumps'],
  [/,\s{0,9}[}\]]/, 'a comma stands before the end of an object or an array'],
  [
    /[[,:]\s{0,9}(?:-?NaN|-?Infinity|undefined|None|True|False)\b/,
    'NaN, None and the like are not of JSON',
  ],
  [/^\s{0,9}(?:SRID|(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRY)/i, 'WKT is in the member wkt'],
]

/**
 * Whether JSON may have half of a surrogate pair: an escape without its other half. Text that was UTF-8 has no other.
 * Pairs are usual: Python writes an emoji so. An escaped backslash in front may make it true in vain.
 */
export function mayHoldHalfPair(json: string): boolean {
  return HALF_PAIR.test(json)
}

const HALF_PAIR =
  /\\u[dD](?:[89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F](?<!(?:^|[^\\])(?:\\\\)*\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]))/

/**
 * Refuses text that has no UTF-8, and that no answer could give back.
 *
 * @param path  of the value in the body
 */
function refuseHalfPairs(value: unknown, path: string): void {
  if (typeof value === 'string' && !value.isWellFormed()) throw halfPair(path)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    // Of numbers, which are millions, no path is made.
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'number') refuseHalfPairs(value[i], `${path}[${i}]`)
    }
    return
  }
  for (const [name, inner] of Object.entries(value)) {
    if (!name.isWellFormed()) throw halfPair(path, 'the name of a member of ')
    refuseHalfPairs(inner, path === '' ? name : `${path}.${name}`)
  }
}

function halfPair(path: string, what = ''): ServiceError {
  const field = path.slice(0, SHOWN_PATH_CHAR_COUNT).toWellFormed()
  const where = what + (field || 'the body')
  const problem = 'is not Unicode text: it has half of a surrogate pair (\\uD800 to \\uDFFF)'
  return new ServiceError('InvalidRequest', `${where} ${problem}`, field || undefined)
}

const SHOWN_PATH_CHAR_COUNT = 200

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
