/**
 * Each contact, or each phone, once: of the selected recipients that share one, the first keeps it, in
 * the order of the shards and their recipients. Only tied recipients need a look.
 *
 * @module
 */
import { bitsWithin } from '../bit-words.js'
import { type Budget, charge } from '../budget.js'
import type { Shard } from '../layout.js'
import { RunList } from '../runs.js'
import { rankOf } from './ranked-set.js'
import { appendTied, NO_TIES, type Ties } from './ties.js'

/** What counts once. */
export type Shared = 'contact' | 'phone'

export function tiesOf(shard: Shard, shared: Shared | null): Ties {
  if (shared === null) return NO_TIES
  return shared === 'contact' ? shard.contactTies : shard.phoneTies
}

/**
 * @param shards  where contacts count, of one source
 * @param tied  the selected recipients of each shard that are tied, as runs of ranks
 * @returns of each shard, the selected recipients that share something with one before them
 */
export function countAgain(
  shards: readonly Shard[],
  shared: Shared,
  tied: readonly RunList[],
  budget: Budget,
): number[] {
  const again = shards.map(() => 0)
  lookAtTied(shards, shared, tied, budget, (ties, at) => {
    again[at] = countSeen(ties.ids, tied[at])
  })
  return again
}

/**
 * @param shards  as for `countAgain`
 * @param runs  the selected recipients of each shard
 * @returns the runs of each shard, reduced to the first recipient of each contact or phone
 */
export function firstsOf(
  shards: readonly Shard[],
  shared: Shared,
  runs: readonly Uint32Array[],
  budget: Budget,
): Uint32Array[] {
  const tied = tiedLists(shards.length)
  for (const [at, shard] of shards.entries()) {
    appendTied(tiesOf(shard, shared), runs[at], tied[at], budget)
  }
  const firsts = [...runs]
  lookAtTied(shards, shared, tied, budget, (ties, at) => {
    firsts[at] = keepUnseen(ties, runs[at])
  })
  return firsts
}

/** Empty lists of runs, good until they are asked for again. */
export function tiedLists(count: number): readonly RunList[] {
  while (lists.length < count) lists.push(new RunList())
  for (let at = 0; at < count; at++) lists[at].clear()
  return lists
}

/** The cost of looking at the id of a recipient, in edge tests. */
const TIED_COST = 8

const lists: RunList[] = []
/** One bit an id, all of them zero between calls. */
let seen = new Uint32Array(0)
const keptRuns = new RunList()

/** Calls `look` for each shard with selected recipients that are tied. */
function lookAtTied(
  shards: readonly Shard[],
  shared: Shared,
  tied: readonly RunList[],
  budget: Budget,
  look: (ties: Ties, at: number) => void,
): void {
  let tiedCount = 0
  let idEnd = 0
  for (const [at, shard] of shards.entries()) {
    if (tied[at].runCount === 0) continue
    tiedCount += tied[at].recipientCount()
    idEnd = Math.max(idEnd, tiesOf(shard, shared).idEnd)
  }
  if (tiedCount === 0) return
  // Before the first bit is set: whatever throws further down would leave bits behind.
  charge(budget, TIED_COST * tiedCount)
  const wordCount = Math.ceil(idEnd / 32)
  if (wordCount > seen.length) seen = new Uint32Array(wordCount)
  for (const [at, shard] of shards.entries()) {
    if (tied[at].runCount > 0) look(tiesOf(shard, shared), at)
  }
  if (tiedCount > wordCount / 8) seen.fill(0, 0, wordCount)
  else for (const [at, shard] of shards.entries()) forget(tiesOf(shard, shared).ids, tied[at])
}

/** Marks ids as seen; returns how many were before. */
function countSeen(ids: Uint32Array, { pairs, runCount }: RunList): number {
  let count = 0
  for (let i = 0; i < 2 * runCount; i += 2) {
    const end = pairs[i + 1]
    for (let rank = pairs[i]; rank < end; rank++) {
      const id = ids[rank]
      const bit = 1 << (id & 31)
      const word = seen[id >>> 5]
      count += Number((word & bit) !== 0)
      seen[id >>> 5] = word | bit
    }
  }
  return count
}

function forget(ids: Uint32Array, { pairs, runCount }: RunList): void {
  for (let i = 0; i < 2 * runCount; i += 2) {
    const end = pairs[i + 1]
    for (let rank = pairs[i]; rank < end; rank++) seen[ids[rank] >>> 5] = 0
  }
}

/** Marks ids as seen; returns the runs without the recipients whose id was before. */
function keepUnseen({ set, ids }: Ties, runs: Uint32Array): Uint32Array {
  keptRuns.clear()
  for (let i = 0; i < runs.length; i += 2) {
    let start = runs[i]
    const end = runs[i + 1]
    let rank = set === null ? start : rankOf(set, start)
    const groupEnd = (end + 31) >>> 5
    for (let group = start >>> 5; group < groupEnd; group++) {
      let bits = bitsWithin(set === null ? -1 : set[2 * group + 1], 32 * group, runs[i], end)
      for (; bits !== 0; bits &= bits - 1) {
        const id = ids[rank++]
        const bit = 1 << (id & 31)
        const word = seen[id >>> 5]
        if ((word & bit) !== 0) {
          const recipient = 32 * group + 31 - Math.clz32(bits & -bits)
          if (start < recipient) keptRuns.append(start, recipient)
          start = recipient + 1
        }
        seen[id >>> 5] = word | bit
      }
    }
    if (start < end) keptRuns.append(start, end)
  }
  return keptRuns.toPairs()
}
