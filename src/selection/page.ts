/**
 * Sixth stage: cuts the requested page from the recipients found, in the order of the list. The
 * cursor is checked before the search, so a bad cursor costs no search.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { atRank, type Mask, rankOf } from '../shard/mask.js'
import { recipientCountOf } from '../shard/runs.js'
import type { Catalogue } from './catalogue.js'
import { type ListBasis, type Place, readCursor, writeCursor } from './cursor.js'
import type { ShardRuns, SourceSelection } from './merge.js'

/** Recipients of a list from a place on. */
interface Page {
  readonly basis: ListBasis
  /** As the cursor has it; undefined is the beginning. */
  readonly start: Place | undefined
  /** Infinite where there is none. */
  readonly limit: number
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
  const start = after === undefined ? undefined : readCursor(basis, after)
  return { basis, start, limit: limit ?? Number.POSITIVE_INFINITY }
}

/** The moment of which a page is. */
interface PageView {
  readonly catalogue: Pick<Catalogue, 'shards'>
  readonly moment: number
  readonly seal: number
  /** Who is there for the request; null where everybody is. */
  readonly mask: Mask | null
}

/** Counts stay those of the whole list. */
export function cutToPage(
  selections: readonly SourceSelection[],
  page: Page | undefined,
  view: PageView,
): Listing {
  if (page === undefined) return { selections, isPage: false, next: undefined }
  const { basis, limit } = page
  const start = page.start === undefined ? BEGINNING : shardPlaceOf(page.start, view)
  let left = limit
  let next: ShardPlace | undefined
  const cut = selections.map((selection) => ({
    ...selection,
    shards: selection.shards.map((found) => {
      const behind = runsFrom(found, start)
      const given = firstOf(behind, left)
      const givenCount = recipientCountOf(given)
      left -= givenCount
      if (next === undefined && givenCount < recipientCountOf(behind)) {
        // With nothing of this shard on the page, the next one may begin with the shard.
        next = { shardIndex: found.shardIndex, recipient: given[given.length - 1] ?? 0 }
      }
      // A copy of what is given, where that is not all: or it would keep the memory of all.
      const isWhole = given.length === found.runs.length
      return { shardIndex: found.shardIndex, runs: isWhole ? given : given.slice() }
    }),
  }))
  return {
    selections: cut,
    isPage: true,
    next: next === undefined ? undefined : writeCursor(basis, sentPlace(next, view)),
  }
}

/** A place as it is at the moment of the page. */
interface ShardPlace {
  readonly shardIndex: number
  readonly recipient: number
}

const BEGINNING: ShardPlace = { shardIndex: 0, recipient: 0 }

/**
 * With a mask, a cursor has the rank among those within: how many come before in the snapshot would tell
 * of people beyond the boundary.
 */
function sentPlace(place: ShardPlace, { catalogue, moment, seal, mask }: PageView): Place {
  if (mask !== null) return { placeId: 0, recipient: rankOf(mask, place), moment, seal }
  const { placeId } = catalogue.shards[place.shardIndex]
  return { placeId, recipient: place.recipient, moment, seal }
}

/** Behind all shards where there is none of that name. */
function shardPlaceOf({ placeId, recipient }: Place, { catalogue, mask }: PageView): ShardPlace {
  if (mask !== null) return atRank(mask, recipient)
  const { shards } = catalogue
  const shardIndex = shards.findIndex((shard) => shard.placeId === placeId)
  return { shardIndex: shardIndex < 0 ? shards.length : shardIndex, recipient }
}

/** The runs of a shard from a place on, which may lie in another shard. */
function runsFrom(
  { shardIndex, runs }: ShardRuns,
  { recipient, ...place }: ShardPlace,
): Uint32Array {
  if (shardIndex > place.shardIndex) return runs
  if (shardIndex < place.shardIndex) return NONE
  let first = 0
  while (first < runs.length && runs[first + 1] <= recipient) first += 2
  if (first === runs.length || runs[first] >= recipient) return runs.subarray(first)
  const cut = runs.slice(first)
  cut[0] = recipient
  return cut
}

/** So many recipients, the first ones, or all that there are. */
function firstOf(runs: Uint32Array, count: number): Uint32Array {
  let left = count
  let end = 0
  while (end < runs.length && left >= runs[end + 1] - runs[end]) {
    left -= runs[end + 1] - runs[end]
    end += 2
  }
  if (end === runs.length || left === 0) return runs.subarray(0, end)
  const cut = runs.slice(0, end + 2)
  cut[end + 1] = cut[end] + left
  return cut
}

const NONE = new Uint32Array(0)
