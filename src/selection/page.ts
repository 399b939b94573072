/**
 * Sixth stage: of the recipients that were found, in the order in which they are listed, the page
 * that is asked for. What a page is must be known before, so that a bad cursor costs no search.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { recipientCountOf } from '../shard/runs.js'
import { type ListBasis, readCursor, writeCursor } from './cursor.js'
import type { SourceSelection } from './merge.js'

/** The recipients [start, end) of a list. */
export interface Page {
  readonly basis: ListBasis
  readonly start: number
  /** Infinite where there is no limit. */
  readonly end: number
}

/** What is listed in one answer. */
export interface Listing {
  readonly selections: readonly SourceSelection[]
  /** Whether a page was asked for. */
  readonly isPage: boolean
  /** The cursor of what follows, if anything does. */
  readonly next: string | undefined
}

/**
 * The page that a query asks for; undefined is the whole list.
 *
 * @throws ServiceError  InvalidRequest or CursorExpired
 */
export function pageOf(basis: ListBasis): Page | undefined {
  const { limit, after, countsOnly } = basis.query
  if (limit === undefined && after === undefined) return undefined
  if (countsOnly) {
    const field = limit === undefined ? 'after' : 'limit'
    const message = `${field} is for lists, and countsOnly asks for none: leave one of them out`
    throw new ServiceError('InvalidRequest', message, field)
  }
  const start = after === undefined ? 0 : readCursor(basis, after)
  return { basis, start, end: start + (limit ?? Number.POSITIVE_INFINITY) }
}

/** Counts stay those of the whole list. */
export function cutToPage(selections: readonly SourceSelection[], page: Page | undefined): Listing {
  if (page === undefined) return { selections, isPage: false, next: undefined }
  const { basis, start, end } = page
  let givenCount = 0
  const cut = selections.map((selection) => ({
    ...selection,
    shards: selection.shards.map(({ shardIndex, runs }) => {
      const before = givenCount
      givenCount += recipientCountOf(runs)
      const isWhole = start <= before && givenCount <= end
      return { shardIndex, runs: isWhole ? runs : cutRuns(runs, start - before, end - before) }
    }),
  }))
  return {
    selections: cut,
    isPage: true,
    next: end < givenCount ? writeCursor(basis, end) : undefined,
  }
}

/** The recipients [start, end) of runs, counted from their first one; either may lie outside. */
function cutRuns(runs: Uint32Array, start: number, end: number): Uint32Array {
  const cut: number[] = []
  let before = 0
  for (let i = 0; i < runs.length && before < end; i += 2) {
    const first = runs[i]
    const last = runs[i + 1]
    const from = first + Math.max(0, start - before)
    const to = Math.min(last, first + end - before)
    if (from < to) cut.push(from, to)
    before += last - first
  }
  return Uint32Array.from(cut)
}
