/**
 * The members of a request, from wherever they come: body, path and query.
 *
 * On the paths of an operation a form goes before the query, the query before variables of the path,
 * these before a body of JSON. Where the path names the operation, the body goes before the query.
 *
 * @module
 */
import { parse as parseCsv } from 'csv-parse/sync'
import { ServiceError } from '../errors.js'
import { parseJsv } from '../format/jsv-parse.js'
import type { Operation } from '../interface/operations.js'
import { limits } from '../limits.js'
import { isObject, type JsonObject, parse, parseAny } from '../selection/parse.js'
import { decompress } from './decompress.js'
import { membersOf, overlay } from './fields.js'
import type { HttpRequest } from './request.js'
import { formParts } from './uws.js'

/** What a body holds. A form tells fields apart from the members of an object. */
export type BodyContent =
  | { readonly kind: 'members'; readonly members: JsonObject }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[] }

/** @throws ServiceError */
export function bindOnPath(
  request: HttpRequest,
  operation: Operation,
  content: BodyContent,
): JsonObject {
  const isForm = content.kind === 'form'
  let members = overlay(isForm ? {} : content.members, request.parameters)
  if (request.query.size > 0) members = overlay(members, membersOf(request.query, operation))
  return isForm ? overlay(members, membersOf(content.fields, operation)) : members
}

/** @throws ServiceError */
export function bindByName(
  request: HttpRequest,
  operation: Operation,
  content: BodyContent,
): JsonObject {
  const isForm = content.kind === 'form'
  const members = isForm ? membersOf(content.fields, operation) : content.members
  if (request.query.size === 0) return members
  return overlay(membersOf(request.query, operation), members)
}

/**
 * Reads a body by its Content-Type. Clients leave the type out, or send a wrong one, so what begins
 * like JSON is read as JSON.
 *
 * @throws ServiceError  never quoting the body
 */
export async function readContent(request: HttpRequest): Promise<BodyContent> {
  const body = await readPlain(request)
  const contentType = request.header('content-type') ?? ''
  const type = contentType.split(';', 1)[0].trim().toLowerCase()
  if (JSV_TYPES.includes(type)) return { kind: 'members', members: objectOf(body) }
  if (type === 'application/json' || looksLikeJson(body)) {
    return { kind: 'members', members: parse(body) }
  }
  switch (type) {
    case 'application/x-www-form-urlencoded':
      return { kind: 'form', fields: pairsOf(body) }
    case 'multipart/form-data':
      return { kind: 'form', fields: partsOf(body, contentType) }
    case 'text/csv':
      return { kind: 'form', fields: recordOf(body) }
    default:
      return { kind: 'members', members: parse(body) }
  }
}

/**
 * Reads a body as a list of requests. Members in the query would be those of none of them.
 *
 * @throws ServiceError
 */
export async function readBatch(
  request: HttpRequest,
  operation: Operation,
): Promise<readonly JsonObject[]> {
  const [name] = Object.keys(membersOf(request.query, operation))
  if (name !== undefined) {
    const problem = 'is in the query, but a batch has the members of its requests in its body'
    throw new ServiceError('InvalidRequest', `${name} ${problem}`, name)
  }
  const value = parseAny(await readPlain(request))
  if (!Array.isArray(value)) {
    throw new ServiceError('InvalidRequest', 'the body of a batch must be an array of requests')
  }
  if (value.length > limits.batchRequestCount) {
    const most = limits.batchRequestCount
    throw new ServiceError('InvalidRequest', `a batch may hold at most ${most} requests`)
  }
  return value.map((item: unknown, index) => {
    if (isObject(item)) return item
    throw new ServiceError('InvalidRequest', `[${index}] must be an object`, `[${index}]`)
  })
}

async function readPlain(request: HttpRequest): Promise<Uint8Array> {
  const body = await request.body()
  const encoding = request.header('content-encoding')
  if (!encoding || body.length === 0) return body
  return decompress(body, encoding, limits.bodyBytes)
}

const JSV_TYPES = ['application/jsv', 'text/jsv', 'text/x-jsv']

function looksLikeJson(body: Uint8Array): boolean {
  let at = MARK.every((byte, i) => body[i] === byte) ? MARK.length : 0
  while (body[at] === 0x20 || (body[at] >= 0x09 && body[at] <= 0x0d)) at++
  return at === body.length || body[at] === OPEN_BRACE || body[at] === OPEN_BRACKET
}

const [OPEN_BRACE, OPEN_BRACKET] = new TextEncoder().encode('{[')

/** A byte order mark. */
const MARK = new TextEncoder().encode('\ufeff')

const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(body: Uint8Array): string {
  try {
    return decoder.decode(body)
  } catch {
    throw new ServiceError('InvalidRequest', 'the body is not UTF-8')
  }
}

function objectOf(body: Uint8Array): JsonObject {
  const text = textOf(body)
  const value = text.trim() === '' ? {} : parseJsv(text)
  if (isObject(value)) return value
  throw new ServiceError('InvalidRequest', 'the body must be an object')
}

/** `curl -d` sends whatever it is given as a form, so that a form can be told from anything else. */
function pairsOf(body: Uint8Array): (readonly [string, string])[] {
  const text = textOf(body)
  if (!text.includes('=')) {
    throw new ServiceError('InvalidRequest', 'the body is neither JSON nor a form')
  }
  refuseManyFields(1 + countOf(AMPERSAND, body))
  return [...new URLSearchParams(text)]
}

/** As many as the members of a body of JSON. To be asked before they are read, which takes long. */
function refuseManyFields(fieldCount: number): void {
  if (fieldCount <= limits.jsonMemberCount) return
  const most = limits.jsonMemberCount
  throw new ServiceError('TooComplex', `the body has more than ${most} members`)
}

function countOf(sign: number, body: Uint8Array): number {
  let count = 0
  for (let at = body.indexOf(sign); at >= 0; at = body.indexOf(sign, at + 1)) count++
  return count
}

const [AMPERSAND, COMMA, QUOTE] = new TextEncoder().encode('&,"')

/** The library drops parts that it cannot read and what follows them, so all are looked for here. */
function partsOf(body: Uint8Array, contentType: string): (readonly [string, string])[] {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  // The library takes whatever follows, quotes and other parameters, for the boundary.
  const parts = formParts(body, `multipart/form-data; boundary=${boundary}`) ?? []
  if (parts.length === 0 || !isWhole(Buffer.from(body), `--${boundary}`, parts.length)) {
    throw new ServiceError('InvalidRequest', 'the parts of the form are not whole')
  }
  refuseManyFields(parts.length)
  return parts.map(({ name, data }) => {
    if (name !== undefined) return [name, textOf(new Uint8Array(data))]
    throw new ServiceError('InvalidRequest', 'a part of the form has no name')
  })
}

/** Whether delimiters stand before each part and after the last one, on lines of their own. */
function isWhole(body: Buffer, delimiter: string, partCount: number): boolean {
  let count = 0
  let end = 0
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, end)) {
    if (at > 0 && body.toString('latin1', at - 2, at) !== '\r\n') return false
    count++
    end = at + delimiter.length
  }
  return count === partCount + 1 && body.toString('latin1', end, end + 2) === '--'
}

/** A header and one record, as a table of one row. */
function recordOf(body: Uint8Array): (readonly [string, string])[] {
  refuseManyFields(1 + unquotedCommas(body) / 2)
  let records: string[][]
  try {
    records = parseCsv(textOf(body), { bom: true, skip_empty_lines: true, to: 3 })
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('InvalidRequest', 'the body is neither JSON nor CSV')
  }
  const [names, values] = records
  if (records.length !== 2 || names.length !== values.length) {
    throw new ServiceError('InvalidRequest', 'a body of CSV must be a header and one row')
  }
  return names.map((name, i) => [name, values[i]])
}

/** Commas that end a field, of the header and of the row. */
function unquotedCommas(body: Uint8Array): number {
  let count = 0
  let isQuoted = false
  for (const byte of body) {
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (byte === COMMA && !isQuoted) count++
  }
  return count
}
