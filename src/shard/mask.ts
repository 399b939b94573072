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
  /** Where the runs of each shard begin in `pairs`, and where those of the last one end. */
  readonly starts: Uint32Array
  /** [start, end) pairs of recipient indexes. */
  readonly pairs: Uint32Array
}

/** @param runs  of each shard of the snapshot */
export function createMask(id: number, runs: readonly Uint32Array[]): Mask {
  const starts = new Uint32Array(new SharedArrayBuffer(4 * (runs.length + 1)))
  for (const [at, each] of runs.entries()) starts[at + 1] = starts[at] + each.length
  const pairs = new Uint32Array(new SharedArrayBuffer(4 * starts[runs.length]))
  for (const [at, each] of runs.entries()) pairs.set(each, starts[at])
  return { id, starts, pairs }
}

export function maskBytes({ starts, pairs }: Mask): number {
  return starts.byteLength + pairs.byteLength
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
  const pairs = mask.pairs.subarray(mask.starts[shardIndex], mask.starts[shardIndex + 1])
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
  let left = rank - ranks[shardIndex]
  let at = mask.starts[shardIndex]
  while (left >= mask.pairs[at + 1] - mask.pairs[at]) {
    left -= mask.pairs[at + 1] - mask.pairs[at]
    at += 2
  }
  return { shardIndex, recipient: mask.pairs[at] + left }
}

/** Of the first recipient of each shard, and behind the last one. */
function ranksOf(mask: Mask): Float64Array {
  const known = knownRanks.get(mask)
  if (known !== undefined) return known
  const { starts, pairs } = mask
  const ranks = new Float64Array(starts.length)
  for (let at = 0; at + 1 < starts.length; at++) {
    ranks[at + 1] = ranks[at] + recipientCountOf(pairs.subarray(starts[at], starts[at + 1]))
  }
  knownRanks.set(mask, ranks)
  return ranks
}

const knownRanks = new WeakMap<Mask, Float64Array>()

/** Whether nobody of a shard is within. */
export function isAllBeyond({ starts }: Mask, shardIndex: number): boolean {
  return starts[shardIndex] === starts[shardIndex + 1]
}

/** @param shards  all of the snapshot */
export function maskShards(shards: readonly Shard[], { starts, pairs }: Mask): Shard[] {
  return shards.map((shard, at) => {
    const mask = pairs.subarray(starts[at], starts[at + 1])
    const isWhole = mask.length === 2 && mask[0] === 0 && mask[1] === shard.recipientCount
    return isWhole ? shard : { ...shard, mask }
  })
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
