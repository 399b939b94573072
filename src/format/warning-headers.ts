/**
 * Warnings as a header, for formats whose bodies have no room for them, and for clients that read no body.
 *
 * @module
 */
import { limits } from '../limits.js'

/** A warning of an answer, by the names that it has on the wire. */
export interface SentWarning {
  readonly Code?: string
  readonly Message?: string
  readonly Path?: string
}

/** No header where there is no warning. */
export function warningHeaders(
  warnings: readonly SentWarning[] | undefined,
): Readonly<Record<string, string>> {
  if (warnings === undefined || warnings.length === 0) return NONE
  return { 'X-Warnings': headerOf(warnings) }
}

const NONE = {}

/** A list in JSON, in ASCII. Proxies refuse long headers, so the last warning may say what has no room. */
function headerOf(warnings: readonly SentWarning[]): string {
  // A batch has the warnings of all its answers.
  const most = limits.warningCount
  const start = warnings.length > most ? most - 1 : warnings.length
  for (let count = start; count > 0; count--) {
    const list = count === warnings.length ? warnings : [...warnings.slice(0, count), MORE]
    const value = asciiJson(list)
    if (value.length <= limits.warningHeaderBytes) return value
  }
  return asciiJson([MORE])
}

const MORE = { Code: 'MoreWarnings', Message: 'more warnings have no room in a header' }

function asciiJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[^ -~]/g, escaped)
}
