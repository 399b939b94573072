/**
 * Which format an answer is written in, in the order in which ServiceStack decides it, and which
 * layout a table has.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { CsvLayout } from './answer.js'
import { queryValue } from './query-value.js'

export type Format = 'json' | 'csv' | 'ndjson'

export interface FormatWishes {
  /** The format that the path itself names, as in `/csv/reply/…`. */
  readonly pathFormat: Format | undefined
  /** What was cut off the end of the path. */
  readonly suffix: Format | undefined
  readonly query: URLSearchParams
  readonly accept: string | undefined
  /** Of the body of the request. */
  readonly contentType: string | undefined
}

/**
 * Never fails: what is not understood is JSON.
 *
 * The suffix decides; then a `callback`, which calls for a script and so for JSON; then `format=`;
 * then the path, or else the Accept header. So an answer is JSONP when there is a callback and the
 * format is JSON: a callback beside `.csv` has no effect.
 */
export function negotiate(wishes: FormatWishes): Format {
  const { pathFormat, suffix, query, accept, contentType } = wishes
  if (suffix !== undefined) return suffix
  if (queryValue(query, 'callback') !== undefined) return 'json'
  const format = queryValue(query, 'format')
  if (format !== undefined) return formatNamed(format.split('.', 1)[0].toLowerCase())
  return pathFormat ?? formatOfAccept(accept, contentType)
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

function formatNamed(name: string): Format {
  return name === 'csv' || name === 'ndjson' ? name : 'json'
}

/**
 * CSV only where it is named and JSON is not acceptable, NDJSON where CSV is not named either.
 * Entries are compared by how they begin; weights and order are not looked at. Who takes anything
 * gets the format that was sent.
 */
function formatOfAccept(accept: string | undefined, contentType: string | undefined): Format {
  if (!accept) return isCsv(contentType) ? 'csv' : 'json'
  const entries = accept.split(',').map((entry) => entry.trim().toLowerCase())
  const names = (type: string) => entries.some((entry) => entry.startsWith(type))
  if (names('application/json')) return 'json'
  if (names(ANYTHING)) return isCsv(contentType) ? 'csv' : 'json'
  if (names('text/csv')) return 'csv'
  return names('application/x-ndjson') || names('application/ndjson') ? 'ndjson' : 'json'
}

const ANYTHING = '*/*'

function isCsv(contentType: string | undefined): boolean {
  return contentType?.trim().toLowerCase().startsWith('text/csv') ?? false
}
