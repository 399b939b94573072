/**
 * Masks: who of a snapshot is within a boundary, as sorted runs for each shard. Whoever is beyond is as
 * if not there, before anything else is asked: for `nearest`, for contacts and for distinct phones alike.
 *
 * A mask is found once for a snapshot and a boundary, and lies in memory that all threads share. A shard
 * that is all within has no mask, and one that has nobody within is not asked.
 *
 * @module
 */
import type { Shard } from './layout.js'
import { type RunList, recipientCountOf } from './runs.js'

export interface Mask {
  /** Another one for each mask that a front thread makes. */
  readonly id: number
  /** The same of masks that differ in the runs of deltas alone; its own id unless given. */
  readonly baseId?: number
  /** Of each shard: [start, end) pairs of recipient indexes. */
  readonly runs: readonly Uint32Array[]
}

/** Another number each time in this thread; 0 is no mask. */
export function drawMaskId(): number {
  return nextId++
}

let nextId = 1

/** @param runs  of each shard; they are copied into memory that threads share */
export function createMask(id: number, runs: readonly Uint32Array[]): Mask {
  const length = runs.reduce((sum, each) => sum + each.length, 0)
  const all = new Uint32Array(new SharedArrayBuffer(4 * length))
  let end = 0
  const shared = runs.map((each) => {
    // Of small areas nearly all are, and each object would take more memory than the runs of the others.
    if (each.length === 0) return NOBODY
    const start = end
    end += each.length
    all.set(each, start)
    return all.subarray(start, end)
  })
  return { id, runs: shared }
}

export function maskBytes({ runs }: Mask): number {
  return runs.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** The recipients that are in both of two lists of runs. */
export function commonRuns(left: Uint32Array, right: Uint32Array): Uint32Array {
  const common: number[] = []
  let at = 0
  for (let i = 0; i < left.length; i += 2) {
    at = firstEndingBehind(right, left[i], at)
    for (let k = at; k < right.length && right[k] < left[i + 1]; k += 2) {
      common.push(Math.max(left[i], right[k]), Math.min(left[i + 1], right[k + 1]))
    }
  }
  return Uint32Array.from(common)
}

/** A recipient, by its shard. */
interface MaskedPlace {
  readonly shardIndex: number
  readonly recipient: number
}

/** How many of those within come before a recipient, who need not be within. */
export function rankOf(mask: Mask, { shardIndex, recipient }: MaskedPlace): number {
  const pairs = mask.runs[shardIndex] ?? NOBODY
  let count = 0
  for (let i = 0; i < pairs.length && pairs[i] < recipient; i += 2) {
    count += Math.min(pairs[i + 1], recipient) - pairs[i]
  }
  return ranksOf(mask)[shardIndex] + count
}

/** The first recipient within before whom so many come; behind all of them where there are no more. */
export function atRank(mask: Mask, rank: number): MaskedPlace {
  const ranks = ranksOf(mask)
  const shardCount = ranks.length - 1
  let shardIndex = 0
  while (shardIndex < shardCount && ranks[shardIndex + 1] <= rank) shardIndex++
  if (shardIndex === shardCount) return { shardIndex, recipient: 0 }
  const pairs = mask.runs[shardIndex]
  let left = rank - ranks[shardIndex]
  let at = 0
  while (left >= pairs[at + 1] - pairs[at]) {
    left -= pairs[at + 1] - pairs[at]
    at += 2
  }
  return { shardIndex, recipient: pairs[at] + left }
}

/** Of the first recipient of each shard, and behind the last one. */
function ranksOf(mask: Mask): Float64Array {
  const known = knownRanks.get(mask)
  if (known !== undefined) return known
  const ranks = new Float64Array(mask.runs.length + 1)
  for (const [at, runs] of mask.runs.entries()) ranks[at + 1] = ranks[at] + recipientCountOf(runs)
  knownRanks.set(mask, ranks)
  return ranks
}

const knownRanks = new WeakMap<Mask, Float64Array>()

/** Whether nobody of a shard is within. */
export function isAllBeyond({ runs }: Mask, shardIndex: number): boolean {
  return runs[shardIndex].length === 0
}

const NOBODY = new Uint32Array(0)

/** @param shards  all of the snapshot */
export function maskShards(shards: readonly Shard[], { runs }: Mask): Shard[] {
  return shards.map((shard, at) => {
    const mask = runs[at]
    return isWhole(mask, shard.recipientCount) ? shard : { ...shard, mask }
  })
}

/** Whether runs have all recipients of a shard. */
export function isWhole(runs: Uint32Array, recipientCount: number): boolean {
  return runs.length === 2 && runs[0] === 0 && runs[1] === recipientCount
}

export function isWithin(mask: Uint32Array, recipient: number): boolean {
  const at = firstEndingBehind(mask, recipient, 0)
  return at < mask.length && mask[at] <= recipient
}

/** How many of the recipients in runs are within. */
export function countWithin(mask: Uint32Array, { pairs, runCount }: RunList): number {
  let count = 0
  let at = 0
  for (let i = 0; i < 2 * runCount; i += 2) {
    const start = pairs[i]
    const end = pairs[i + 1]
    at = firstEndingBehind(mask, start, at)
    for (let k = at; k < mask.length && mask[k] < end; k += 2) {
      const from = mask[k] > start ? mask[k] : start
      count += (mask[k + 1] < end ? mask[k + 1] : end) - from
    }
  }
  return count
}

/** Writes the recipients in runs that are within to `into`, another list. */
export function takeWithin(mask: Uint32Array, { pairs, runCount }: RunList, into: RunList): void {
  into.clear()
  let at = 0
  for (let i = 0; i < 2 * runCount; i += 2) {
    const start = pairs[i]
    const end = pairs[i + 1]
    at = firstEndingBehind(mask, start, at)
    // A run of the mask may reach beyond this run, so the next one looks at it again.
    for (let k = at; k < mask.length && mask[k] < end; k += 2) {
      into.append(Math.max(start, mask[k]), Math.min(end, mask[k + 1]))
    }
  }
}

/**
 * The first run of a mask that ends behind a recipient, from a run on. It looks in growing steps: a few
 * runs that are far apart must not cost a look at each of the mask, nor many a search in all of it.
 */
function firstEndingBehind(mask: Uint32Array, recipient: number, from: number): number {
  let step = 2
  let low = from
  let high = from
  while (high < mask.length && mask[high + 1] <= recipient) {
    low = high + 2
    high += step
    step *= 2
  }
  high = Math.min(high, mask.length)
  while (low < high) {
    const middle = ((low + high) >>> 2) << 1
    if (mask[middle + 1] <= recipient) low = middle + 2
    else high = middle
  }
  return low
}
