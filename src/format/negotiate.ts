/**
 * Which format an answer is written in, in the order in which ServiceStack decides it, and which
 * layout a table has.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { CsvLayout } from './answer.js'
import { DEFAULT_FORMAT, type Format, formatNames, formats, isFormat } from './formats.js'

/** The parts of a request that decide the format of its answer. */
export interface FormatHints {
  /** The format that the path itself names, as in `/csv/reply/…`. */
  readonly pathFormat: Format | undefined
  /** The format whose suffix was cut off the end of the path. */
  readonly suffix: Format | undefined
  readonly query: URLSearchParams
  readonly accept: string | undefined
  /** The Content-Type of the body of the request. */
  readonly contentType: string | undefined
}

/**
 * The suffix decides; then a `callback`, which calls for a script and so for JSON or GeoJSON; then
 * `format=`; then the path, or else the Accept header. So an answer is JSONP when there is a callback and
 * the format is JSON: a callback beside `.csv` has no effect.
 *
 * @throws ServiceError  InvalidRequest, when `format=` names none. An Accept header never fails
 */
export function negotiate(hints: FormatHints): Format {
  const { pathFormat, suffix, query, accept, contentType } = hints
  const named = formatNamed(queryValue(query, 'format'))
  if (suffix !== undefined) return suffix
  if (queryValue(query, 'callback') !== undefined) {
    return named !== undefined && formats[named].hasScript ? named : DEFAULT_FORMAT
  }
  return named ?? pathFormat ?? formatOfAccept(accept, contentType)
}

/**
 * The layout of tables that is asked for with `layout=`, in any letter case.
 *
 * @throws ServiceError  InvalidRequest
 */
export function layoutOf(query: URLSearchParams): CsvLayout {
  const layout = queryValue(query, 'layout')?.toLowerCase() ?? 'flat'
  if (layout === 'flat' || layout === 'sources') return layout
  throw new ServiceError('InvalidRequest', 'layout must be flat or sources', 'layout')
}

/** The format whose suffix ends a segment. Case matters, and something must stand before the dot. */
export function formatOfSuffix(segment: string): Format | undefined {
  return formatNames.find((name) => {
    const { suffix } = formats[name]
    return suffix !== undefined && segment.length > suffix.length && segment.endsWith(suffix)
  })
}

/** A segment without the suffix of its format. */
export function withoutSuffix(segment: string, format: Format): string {
  return segment.slice(0, segment.length - (formats[format].suffix?.length ?? 0))
}

/**
 * The value of a key in any letter case, if it is not empty.
 *
 * @throws ServiceError  InvalidRequest, where there are several
 */
export function queryValue(query: URLSearchParams, name: string): string | undefined {
  if (query.size === 0) return undefined
  const given = [...query].filter(([key, value]) => value !== '' && key.toLowerCase() === name)
  if (given.length > 1) throw new ServiceError('InvalidRequest', `${name} is given twice`, name)
  return given[0]?.[1]
}

function formatNamed(given: string | undefined): Format | undefined {
  if (given === undefined) return undefined
  const name = given.split('.', 1)[0].toLowerCase()
  if (isFormat(name)) return name
  const known = `${formatNames.slice(0, -1).join(', ')} or ${formatNames.at(-1)}`
  throw new ServiceError('InvalidRequest', `format must be ${known}`, 'format')
}

/**
 * The default where it is acceptable, and otherwise the first format of the table that is named.
 * Entries are compared by how they begin; weights and order are not looked at. A client that accepts
 * anything gets the format of its request.
 */
function formatOfAccept(accept: string | undefined, contentType: string | undefined): Format {
  if (!accept) return formatOfRequest(contentType)
  const entries = accept.split(',').map((entry) => entry.trim().toLowerCase())
  const names = (type: string) => entries.some((entry) => entry.startsWith(type))
  if (formats[DEFAULT_FORMAT].accept.some(names)) return DEFAULT_FORMAT
  if (names(ANYTHING)) return formatOfRequest(contentType)
  return formatNames.find((name) => formats[name].accept.some(names)) ?? DEFAULT_FORMAT
}

const ANYTHING = '*/*'

function formatOfRequest(contentType: string | undefined): Format {
  const type = contentType?.trim().toLowerCase() ?? ''
  return requestTypes.find(([start]) => type.startsWith(start))?.[1] ?? DEFAULT_FORMAT
}

const requestTypes = formatNames.flatMap((name): [type: string, format: Format][] => {
  const { requestType } = formats[name]
  return requestType === undefined ? [] : [[requestType, name]]
})
