/**
 * Reads the body of a request by its Content-Type: JSON, JSV, NDJSON, a drawing, or a form (also of several parts,
 * or of CSV). No error quotes the body.
 *
 * @module
 */
import {
  MultipartParseError,
  type MultipartPart,
  parseMultipart,
} from '@remix-run/multipart-parser'
import { parse as parseCsv } from 'csv-parse/sync'
import { ServiceError } from '../errors.js'
import { formats } from '../format/formats.js'
import { parseJsv } from '../format/jsv-parse.js'
import type { Operation } from '../interface/operation.js'
import { type OperationName, operations } from '../interface/operations.js'
import { limits } from '../limits.js'
import { alertRequestOf } from '../operations/alerts/sent-alert.js'
import { SentLines } from '../operations/execute.js'
import { requestOf } from '../selection/bare-drawing.js'
import { isObject, type JsonObject, noText, parse, parseAny } from '../selection/parse.js'
import { parseRequest } from '../selection/skeleton/sent-drawing.js'
import type { HttpRequest } from './request.js'

/** The content of a body: the members of an object, or the fields of a form. */
export type BodyContent =
  | { readonly kind: 'members'; readonly members: JsonObject; readonly isDrawing?: true }
  | { readonly kind: 'form'; readonly fields: Fields }

/** The media type of a zip with a KML in it, which is unpacked before it is read. */
export const KMZ_TYPE = 'application/vnd.google-earth.kmz'

/**
 * Reads a body by its Content-Type. Clients leave the type out or send a wrong one, so a body that
 * begins like JSON is read as JSON.
 *
 * @param name  the operation, if the body is no form that names another verb
 * @throws ServiceError  never quoting the body
 */
export function readContent(
  request: HttpRequest,
  body: Uint8Array,
  name: OperationName | undefined,
): BodyContent {
  const type = request.mediaType
  const drawing = drawingRequest(name, type, body)
  if (drawing !== undefined) return { kind: 'members', members: drawing, isDrawing: true }
  const parseJson = jsonReaderOf(name)
  refuseXml(body)
  const { linesMember }: Partial<Operation> = name === undefined ? {} : operations[name]
  if (linesMember !== undefined && formats.ndjson.accept.includes(type)) {
    return { kind: 'members', members: { [linesMember]: new SentLines(Uint8Array.from(body)) } }
  }
  if (JSV_TYPES.includes(type)) return { kind: 'members', members: objectOf(body) }
  if (type === 'application/json' || looksLikeJson(body)) {
    return { kind: 'members', members: parseJson(body) }
  }
  const fieldsOf = formReaders.get(type)
  if (fieldsOf === undefined) return { kind: 'members', members: parseJson(body) }
  return { kind: 'form', fields: fieldsOf(body, request.header('content-type') ?? '') }
}

/** The drawing of a recipient request is read another way, and may be all of the body. */
function jsonReaderOf(name: OperationName | undefined): (body: Uint8Array) => JsonObject {
  if (name === 'PutAlertRequest') return (body) => alertRequestOf(parse(body))
  const { linesMember }: Partial<Operation> = name === undefined ? {} : operations[name]
  if (linesMember !== undefined) {
    const instead = `: send {"${linesMember}": [...]}, or each item on a line of its own as ${NDJSON_TYPE}`
    return (body) => parse(body, instead)
  }
  if (name !== 'RecipientRequest' && name !== 'OutlineRequest' && name !== 'GridRequest') {
    return parse
  }
  return name === 'RecipientRequest' ? parseRequest : (body) => requestOf(parse(body))
}

/** Whether the Content-Type of a request says that its body is a form, though it may be JSON. */
export function mayBeForm(request: HttpRequest): boolean {
  return formReaders.has(request.mediaType)
}

type Fields = readonly (readonly [name: string, text: string])[]

const formReaders: ReadonlyMap<string, (body: Uint8Array, contentType: string) => Fields> = new Map(
  [
    ['application/x-www-form-urlencoded', pairsOf],
    ['multipart/form-data', partsOf],
    ['text/csv', recordOf],
  ],
)

/**
 * Reads a body as a list of requests.
 *
 * @throws ServiceError
 */
export function readBatch(body: Uint8Array): readonly JsonObject[] {
  refuseXml(body)
  const value = parseAny(body)
  if (!Array.isArray(value)) {
    throw new ServiceError('InvalidRequest', 'the body of a batch must be an array of requests')
  }
  if (value.length > limits.batchRequestCount) {
    const most = limits.batchRequestCount
    throw new ServiceError('InvalidRequest', `a batch may hold at most ${most} requests`)
  }
  return value.map((item: unknown, index) => {
    if (isObject(item)) return requestOf(item)
    throw new ServiceError('InvalidRequest', `[${index}] must be an object`, `[${index}]`)
  })
}

const [NDJSON_TYPE] = formats.ndjson.accept

const JSV_TYPES = ['application/jsv', 'text/jsv', 'text/x-jsv']

function looksLikeJson(body: Uint8Array): boolean {
  const first = firstByte(body)
  return first === undefined || first === OPEN_BRACE || first === OPEN_BRACKET
}

/** No other body begins like this, and a form would have fields of nonsense. */
function refuseXml(body: Uint8Array): void {
  if (firstByte(body) !== LESS_THAN) return
  throw new ServiceError(
    'InvalidRequest',
    'the body is XML or HTML, which is not read: send JSON (application/json), a form ' +
      '(application/x-www-form-urlencoded or multipart/form-data), CSV (text/csv) or JSV (text/jsv); ' +
      'where shapes are taken, also CAP (Content-Type: application/cap+xml), ' +
      'KML (application/vnd.google-earth.kml+xml) and GPX (application/gpx+xml)',
  )
}

/** Behind white space and a byte order mark; undefined where there is no more. */
function firstByte(body: Uint8Array): number | undefined {
  let at = MARK.every((byte, i) => body[i] === byte) ? MARK.length : 0
  while (body[at] === 0x20 || (body[at] >= 0x09 && body[at] <= 0x0d)) at++
  return body[at]
}

const [OPEN_BRACE, OPEN_BRACKET, LESS_THAN] = new TextEncoder().encode('{[<')

/** A byte order mark. */
const MARK = new TextEncoder().encode('\ufeff')

const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(body: Uint8Array): string {
  try {
    return decoder.decode(body)
  } catch {
    throw new ServiceError('InvalidRequest', noText(body))
  }
}

function objectOf(body: Uint8Array): JsonObject {
  const text = textOf(body)
  const value = text.trim() === '' ? {} : parseJsv(text)
  if (isObject(value)) return value
  throw new ServiceError('InvalidRequest', 'the body must be an object')
}

/** Refuses a text without any field: `curl -d` sends every body as a form. */
function pairsOf(body: Uint8Array): Fields {
  const text = textOf(body)
  if (!text.includes('=')) {
    throw new ServiceError(
      'InvalidRequest',
      'the body is neither JSON nor a form, in which each field is name=value, such as wkt=POINT(…)',
    )
  }
  refuseManyFields(1 + countOf(AMPERSAND, body))
  return [...new URLSearchParams(text)]
}

/** The limit is that of the members of a JSON body. Asked before the fields are read, which is slow. */
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

/** The library takes some parts that are not whole, so delimiters are counted here. */
function partsOf(body: Uint8Array, contentType: string): Fields {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? ''
  const bytes = Buffer.from(body)
  const delimiter = `--${boundary}`
  // The library wants no preamble, which the standard allows.
  const first = bytes.indexOf(delimiter)
  const parts = boundary === '' || first < 0 ? [] : formParts(bytes.subarray(first), boundary)
  if (parts.length === 0 || !isWhole(bytes, delimiter, parts.length)) {
    throw new ServiceError('InvalidRequest', 'the parts of the form are not whole')
  }
  refuseManyFields(parts.length)
  return parts.map(({ name, data }) => {
    if (name !== undefined) return [name, textOf(data)]
    throw new ServiceError('InvalidRequest', 'a part of the form has no name')
  })
}

/** True when a delimiter stands before each part and after the last one, on a line of its own. */
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

/** One field of a form of several parts. */
interface FormPart {
  /** Undefined where the part does not say. */
  readonly name: string | undefined
  readonly data: Uint8Array
}

/**
 * @param body  begins with the first delimiter
 * @returns the parts; none when they are not whole
 * @throws ServiceError  InvalidRequest, where a name is not UTF-8
 */
function formParts(body: Uint8Array, boundary: string): readonly FormPart[] {
  const parts: FormPart[] = []
  try {
    for (const part of parseMultipart(body, { boundary, ...BOUNDS })) {
      parts.push({ name: nameOf(part), data: part.bytes })
    }
  } catch (error) {
    if (error instanceof MultipartParseError) return []
    throw error
  }
  return parts
}

/** The library decodes the headers of a part when it is asked for the name. */
function nameOf(part: MultipartPart): string | undefined {
  try {
    return part.name
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ServiceError('InvalidRequest', 'a part of the form has headers that are not UTF-8')
  }
}

/** The body is bounded, and so are its fields, which the caller counts. */
const BOUNDS = {
  maxFileSize: limits.bodyBytes,
  maxTotalSize: limits.bodyBytes,
  maxParts: limits.bodyBytes,
}

/** A header and one record, as a table of one row. */
function recordOf(body: Uint8Array): Fields {
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

/** The commas that end a field of the header or of the row. */
function unquotedCommas(body: Uint8Array): number {
  let count = 0
  let isQuoted = false
  for (const byte of body) {
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (byte === COMMA && !isQuoted) count++
  }
  return count
}

/**
 * The request of a body that is one drawing in a format with a media type of its own, such as an alert of CAP or a KML;
 * all other members are in the query. Undefined for a body of another type, or for an operation that takes no drawings.
 *
 * @throws ServiceError  InvalidJson
 */
function drawingRequest(
  name: OperationName | undefined,
  mediaType: string,
  body: Uint8Array,
): JsonObject | undefined {
  if (name === 'PutAlertRequest') return alertIn(mediaType, body)
  if (name === undefined || !takesDrawings(name)) return undefined
  if (mediaType === GEOJSON_TYPE) return { geoJSON: parse(body) }
  if (mediaType === TOPOJSON_TYPE) return { topoJSON: parse(body) }
  const member = XML_MEMBERS.get(mediaType) ?? memberOfRoot(mediaType, body)
  // A copy: the memory is used again when the handler returns.
  return member === undefined ? undefined : { [member]: Uint8Array.from(body) }
}

/** An alert alone: nothing else that is drawn can be kept as one. */
function alertIn(mediaType: string, body: Uint8Array): JsonObject | undefined {
  if (mediaType === GEOJSON_TYPE) return { cap: parse(body) }
  const member = XML_MEMBERS.get(mediaType) ?? memberOfRoot(mediaType, body)
  return member === 'cap' ? { cap: Uint8Array.from(body) } : undefined
}

function takesDrawings(name: OperationName): boolean {
  const { properties } = operations[name].request as { properties?: object }
  return properties !== undefined && 'wkt' in properties
}

const GEOJSON_TYPE = 'application/geo+json'
const TOPOJSON_TYPE = 'application/topo+json'

const XML_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['application/cap+xml', 'cap'],
  ['application/vnd.google-earth.kml+xml', 'kml'],
  [KMZ_TYPE, 'kml'],
  ['application/gpx+xml', 'gpx'],
])

/**
 * The name of the first element decides for XML of a general type. So it does where the type says nothing,
 * as curl sends a file: another body of these types does not begin with a tag.
 */
function memberOfRoot(mediaType: string, body: Uint8Array): string | undefined {
  if (!XML_TYPES.includes(mediaType) && !TYPES_OF_ANYTHING.includes(mediaType)) return undefined
  // Also of UTF-16, whose other bytes are zero here.
  const text = Buffer.from(body.subarray(0, PROLOG_BYTES)).toString('latin1')
  if (!XML_TYPES.includes(mediaType) && !TAG.test(text)) return undefined
  const [, root] = ROOT.exec(text.replaceAll('\0', '').replace(ASIDES, '')) ?? []
  return root === undefined ? undefined : MEMBERS_OF_ROOTS.get(root)
}

const XML_TYPES = ['application/xml', 'text/xml']
/** What clients send where they are not told a type. */
const TYPES_OF_ANYTHING = ['', 'application/octet-stream', 'application/x-www-form-urlencoded']

const PROLOG_BYTES = 8_192
/** Behind a byte order mark of UTF-8, or of UTF-16, in which no other body is read. */
const TAG = /^(?:(?:\xef\xbb\xbf)?\s*|(?:\xff\xfe|\xfe\xff)[\s\0]*)</
/** Comments, declarations and instructions. */
const ASIDES = /<!--.*?-->|<\?.*?\?>/gs
/** Behind a byte order mark. */
const ROOT = /^[^<]*<(?:[\w.-]+:)?(\w+)[\s/>]/

const MEMBERS_OF_ROOTS: ReadonlyMap<string, string> = new Map([
  ['alert', 'cap'],
  ['kml', 'kml'],
  ['gpx', 'gpx'],
])
