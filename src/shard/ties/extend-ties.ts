/**
 * Ties of a shard with further recipients: whoever shared nothing before, and shares it now with a
 * recipient that came later.
 *
 * @module
 */
import { rankedSetLength, rankMembers, rankOf } from './ranked-set.js'
import type { Ties } from './ties.js'

/** Recipients of a shard that are newly tied, ascending, and what each shares. */
export interface NewlyTied {
  readonly recipients: Uint32Array
  readonly ids: Uint32Array
}

/** @param ties  that do not have them */
export function extendTies(
  ties: Ties,
  recipientCount: number,
  { recipients, ids }: NewlyTied,
): Ties {
  if (recipients.length === 0) return ties
  const before = ties.set ?? new Uint32Array(rankedSetLength(recipientCount))
  const set = before.slice()
  for (const recipient of recipients) set[2 * (recipient >>> 5) + 1] |= 1 << (recipient & 31)
  rankMembers(set)
  const merged = new Uint32Array(ties.ids.length + ids.length)
  let taken = 0
  for (const [at, recipient] of recipients.entries()) {
    // All that were tied and come before it.
    const end = rankOf(before, recipient)
    merged.set(ties.ids.subarray(taken, end), taken + at)
    merged[end + at] = ids[at]
    taken = end
  }
  merged.set(ties.ids.subarray(taken), taken + ids.length)
  const idEnd = ids.reduce((end, id) => Math.max(end, id + 1), ties.idEnd)
  return { set, isInArena: false, ids: merged, idEnd }
}
