/**
 * Which format an answer is written in: the suffix of the path decides, then `format=` in the
 * query, then the Accept header, then JSON. It never fails: what is not understood is JSON.
 *
 * @module
 */

export type Format = 'json' | 'csv'

export interface FormatWishes {
  /** What was cut off the end of the path. */
  readonly suffix: Format | undefined
  readonly query: URLSearchParams
  readonly accept: string | undefined
}

export function negotiate({ suffix, query, accept }: FormatWishes): Format {
  return suffix ?? formatOfQuery(query) ?? formatOfAccept(accept)
}

/** The first `format` that has a value; keys and values in any case, cut at the first dot. */
function formatOfQuery(query: URLSearchParams): Format | undefined {
  if (query.size === 0) return undefined
  for (const [key, value] of query) {
    if (value === '' || key.toLowerCase() !== 'format') continue
    return value.split('.', 1)[0].toLowerCase() === 'csv' ? 'csv' : 'json'
  }
  return undefined
}

/** CSV only where it is named and JSON is not acceptable; weights and order are not looked at. */
function formatOfAccept(accept: string | undefined): Format {
  if (accept === undefined) return 'json'
  let csv = false
  for (const entry of accept.split(',')) {
    const type = entry.split(';', 1)[0].trim().toLowerCase()
    if (type === 'application/json' || type === 'application/*' || type === '*/*') return 'json'
    if (type === 'text/csv') csv = true
  }
  return csv ? 'csv' : 'json'
}
