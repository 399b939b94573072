/**
 * Names that are nearly known: what a client that wrote one of them probably meant.
 *
 * @module
 */
import { distance } from 'fastest-levenshtein'
import { lowerCase } from './letter-case.js'

/**
 * The known name that is at most two edits away (Levenshtein), the nearest one; undefined where none is.
 * Letter case, underscores and hyphens do not count. Names of three letters may differ by one edit, and
 * shorter ones are like nothing else.
 *
 * @param known  as they are declared
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name)
  let nearest: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const edits = editsAllowed(candidate.length)
    if (Math.abs(candidate.length - given.length) > edits || edits === 0) continue
    const count = distance(given, plain(candidate))
    if (count > edits || count >= fewest) continue
    nearest = candidate
    fewest = count
  }
  return nearest
}

function plain(name: string): string {
  return lowerCase(name).replace(SEPARATORS, '')
}

const SEPARATORS = /[_\- ]/g

function editsAllowed(charCount: number): number {
  return charCount > 3 ? 2 : charCount === 3 ? 1 : 0
}
