/**
 * Ties of a shard with further recipients: whoever shared nothing before, and shares it now with a
 * recipient that came later.
 *
 * @module
 */
import { type RankedSet, rankedSetLength, rankMembers, rankOf } from './ranked-set.js'
import type { Ties } from './ties.js'

/** Recipients of a shard that are newly tied, ascending, and what each shares. */
export interface NewlyTied {
  readonly recipients: Uint32Array
  readonly ids: Uint32Array
}

/**
 * @param ties  that do not have them
 * @param idEnd  above all ids
 */
export function extendTies(
  ties: Ties,
  recipientCount: number,
  { recipients, ids }: NewlyTied,
  idEnd: number,
): Ties {
  if (recipients.length === 0) return { ...ties, idEnd: Math.max(idEnd, ties.idEnd) }
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
  return { set, isInArena: false, ids: merged, idEnd }
}

/** Whether a recipient is in a set. */
export function isTied(set: RankedSet, recipient: number): boolean {
  return ((set[2 * (recipient >>> 5) + 1] >>> (recipient & 31)) & 1) === 1
}
