/**
 * Values of a query string that say how to answer, not what.
 *
 * @module
 */

/** The first value that is not empty of a key in any letter case. */
export function queryValue(query: URLSearchParams, name: string): string | undefined {
  if (query.size === 0) return undefined
  for (const [key, value] of query) {
    if (value !== '' && key.toLowerCase() === name) return value
  }
  return undefined
}
