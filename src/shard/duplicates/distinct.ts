/**
 * Each phone once. Several recipients may have the same phone, within a source or over several; the
 * first of those that are selected keeps it. Only recipients whose phone repeats anywhere need a look.
 *
 * @module
 */
import { type Budget, charge } from '../budget.js'
import type { Shard } from '../layout.js'
import { RunList, recipientCountOf } from '../runs.js'
import type { ShardRepeats } from './find-repeats.js'

/** @returns of each shard, the recipients whose phone none before them has in its runs */
export function countDistinct(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
): number[] {
  return eachPhoneOnce(shards, runs, budget, countNew)
}

/** @returns the runs of each shard, reduced to the first recipient of each phone */
export function firstOfPhones(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
): Uint32Array[] {
  return eachPhoneOnce(shards, runs, budget, keepNew)
}

/** The costs of looking for a run among the repeats, and at a phone, in edge tests. */
const RUN_SEARCH_COST = 16
const PHONE_COST = 8

/** One bit a phone that repeats, all of them zero between calls. */
let seen = new Uint32Array(0)
const keptRuns = new RunList()

function eachPhoneOnce<Value>(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
  look: (repeats: ShardRepeats, runs: Uint32Array) => Value,
): Value[] {
  let lookedCount = 0
  let wordCount = 0
  for (const [at, { repeats }] of shards.entries()) {
    if (runs[at].length === 0 || repeats.recipients.length === 0) continue
    const most = Math.min(repeats.recipients.length, recipientCountOf(runs[at]))
    charge(budget, PHONE_COST * most + RUN_SEARCH_COST * (runs[at].length / 2))
    lookedCount += most
    wordCount = Math.max(wordCount, wordCountOf(repeats))
  }
  if (wordCount > seen.length) seen = new Uint32Array(wordCount)
  const values = shards.map(({ repeats }, at) => look(repeats, runs[at]))
  if (lookedCount > wordCount / 8) seen.fill(0, 0, wordCount)
  else for (const [at, { repeats }] of shards.entries()) forget(repeats, runs[at])
  return values
}

const wordCounts = new WeakMap<ShardRepeats, number>()

/** Words that hold a bit for each phone of a shard. */
function wordCountOf(repeats: ShardRepeats): number {
  const known = wordCounts.get(repeats)
  if (known !== undefined) return known
  let most = 0
  for (const id of repeats.phoneIds) if (id > most) most = id
  const wordCount = (most >>> 5) + 1
  wordCounts.set(repeats, wordCount)
  return wordCount
}

function countNew({ recipients, phoneIds }: ShardRepeats, runs: Uint32Array): number {
  let count = recipientCountOf(runs)
  let at = 0
  for (let run = 0; run < runs.length && at < recipients.length; run += 2) {
    at = firstFrom(recipients, at, runs[run])
    const end = runs[run + 1]
    for (; at < recipients.length && recipients[at] < end; at++) {
      const id = phoneIds[at]
      const bit = 1 << (id & 31)
      const word = seen[id >>> 5]
      count -= Number((word & bit) !== 0)
      seen[id >>> 5] = word | bit
    }
  }
  return count
}

function keepNew({ recipients, phoneIds }: ShardRepeats, runs: Uint32Array): Uint32Array {
  if (recipients.length === 0) return runs
  keptRuns.clear()
  let at = 0
  for (let run = 0; run < runs.length; run += 2) {
    let start = runs[run]
    const end = runs[run + 1]
    at = firstFrom(recipients, at, start)
    for (; at < recipients.length && recipients[at] < end; at++) {
      const id = phoneIds[at]
      const bit = 1 << (id & 31)
      const word = seen[id >>> 5]
      if ((word & bit) !== 0) {
        if (start < recipients[at]) keptRuns.append(start, recipients[at])
        start = recipients[at] + 1
      }
      seen[id >>> 5] = word | bit
    }
    if (start < end) keptRuns.append(start, end)
  }
  return keptRuns.toPairs()
}

function forget({ recipients, phoneIds }: ShardRepeats, runs: Uint32Array): void {
  let at = 0
  for (let run = 0; run < runs.length && at < recipients.length; run += 2) {
    at = firstFrom(recipients, at, runs[run])
    const end = runs[run + 1]
    for (; at < recipients.length && recipients[at] < end; at++) seen[phoneIds[at] >>> 5] = 0
  }
}

/** The first place from `from` on that holds `value` or more, by steps that double. */
function firstFrom(sorted: Uint32Array, from: number, value: number): number {
  let low = from
  let step = 1
  while (low + step < sorted.length && sorted[low + step] < value) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, sorted.length)
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
