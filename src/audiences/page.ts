/**
 * A page of an audience. A place is how many come before in the frozen list, suppressed or not, so that it
 * means the same however many are suppressed meanwhile.
 *
 * @module
 */
import { RunList, recipientCountOf, subtract } from '../shard/runs.js'
import type { OpenedAudience, OpenedShard } from './messages.js'
import type { SuppressibleAudience } from './suppressed.js'

/**
 * @param after  a place, at most as many as are frozen
 * @param limit  how many are given at most; infinite for all
 */
export function pageOfAudience(
  { parts, suppressed }: Pick<SuppressibleAudience, 'parts' | 'suppressed'>,
  after: number,
  limit: number,
): Pick<OpenedAudience, 'shards' | 'next'> {
  const shards: OpenedShard[] = []
  let passed = after
  let left = limit
  let place = after
  for (const [at, { sourceId, recipientCount, place: rows, runs }] of parts.entries()) {
    if (passed >= recipientCount) {
      passed -= recipientCount
      continue
    }
    if (left === 0) return { shards, next: place }
    const behind = behindOf(runs, passed)
    const { given, lastCount } = firstUnsuppressed(behind, suppressed[at], left)
    if (given.length > 0) shards.push({ sourceId, place: rows, runs: given })
    left -= recipientCountOf(given)
    place += lastCount
    if (lastCount < recipientCount - passed) return { shards, next: place }
    passed = 0
  }
  return { shards, next: undefined }
}

/** Of each source, how many of the frozen ones are suppressed. */
export function suppressedCountsOf({ header, parts, suppressed }: SuppressibleAudience): number[] {
  return header.sources.map(({ id }) => {
    let count = 0
    for (const [at, { sourceId }] of parts.entries()) {
      if (sourceId === id) count += recipientCountOf(suppressed[at])
    }
    return count
  })
}

/** The runs behind the first `count` recipients. */
function behindOf(runs: Uint32Array, count: number): Uint32Array {
  let left = count
  let first = 0
  while (first < runs.length && left >= runs[first + 1] - runs[first]) {
    left -= runs[first + 1] - runs[first]
    first += 2
  }
  if (left === 0) return runs.subarray(first)
  const cut = runs.slice(first)
  cut[0] += left
  return cut
}

/**
 * The first `limit` of runs that are not suppressed, and how many of all were passed to give them: with
 * those who are suppressed before the last one and behind it, as far as the next one who is not.
 */
function firstUnsuppressed(
  runs: Uint32Array,
  suppressed: Uint32Array,
  limit: number,
): { given: Uint32Array; lastCount: number } {
  const all = listOf(runs)
  const open = new RunList()
  subtract(all, listOf(suppressed), open)
  const pairs = open.toPairs()
  let left = limit
  let end = 0
  while (end < pairs.length && left >= pairs[end + 1] - pairs[end]) {
    left -= pairs[end + 1] - pairs[end]
    end += 2
  }
  if (end === pairs.length) return { given: pairs, lastCount: recipientCountOf(runs) }
  const given = pairs.slice(0, left > 0 ? end + 2 : end)
  if (left > 0) given[end + 1] = given[end] + left
  const nextRecipient = left > 0 ? given[end + 1] : pairs[end]
  return { given, lastCount: countBefore(runs, nextRecipient) }
}

function countBefore(runs: Uint32Array, recipient: number): number {
  let count = 0
  for (let i = 0; i < runs.length && runs[i] < recipient; i += 2) {
    count += Math.min(runs[i + 1], recipient) - runs[i]
  }
  return count
}

function listOf(pairs: Uint32Array): RunList {
  const list = new RunList()
  list.appendPairs(pairs)
  return list
}
