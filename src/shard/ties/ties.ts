/**
 * Ties: recipients of a shard that share something with other recipients, which counts once: a contact
 * within a source, or a phone over all sources. Whoever is not tied never needs a look.
 *
 * @module
 */
import { type Budget, charge } from '../budget.js'
import type { ShardRepeats } from '../duplicates/find-repeats.js'
import type { RunList } from '../runs.js'
import { type RankedSet, rankMembers, rankOf } from './ranked-set.js'

export interface Ties {
  /** The recipients that are tied; null where all of them are. */
  readonly set: RankedSet | null
  /** Whether the set is in the arena of the shard, so that its kernel can read it. */
  readonly isInArena: boolean
  /** What each tied recipient shares, in the order of the shard. */
  readonly ids: Uint32Array
  /** All ids are below it, those of other shards as well. */
  readonly idEnd: number
}

/** Of a shard where nobody shares anything. */
export const NO_TIES: Ties = {
  set: null,
  isInArena: false,
  ids: new Uint32Array(0),
  idEnd: 0,
}

/** Puts the recipients whose phone repeats into a set, which may hold anything before. */
export function tiePhones({ recipients }: ShardRepeats, set: RankedSet): void {
  set.fill(0)
  for (const recipient of recipients) set[2 * (recipient >>> 5) + 1] |= 1 << (recipient & 31)
  rankMembers(set)
}

/**
 * Appends runs as runs of ranks: which of the tied recipients, counted in the order of the shard, are
 * in them.
 */
export function appendTied(
  { set, ids }: Ties,
  runs: Uint32Array,
  into: RunList,
  budget: Budget,
): void {
  if (ids.length === 0) return
  charge(budget, TIED_RUN_COST * (runs.length / 2))
  for (let i = 0; i < runs.length; i += 2) {
    const start = set === null ? runs[i] : rankOf(set, runs[i])
    const end = set === null ? runs[i + 1] : rankOf(set, runs[i + 1])
    if (start < end) into.append(start, end)
  }
}

/** The cost of the ranks of a run, in edge tests. */
const TIED_RUN_COST = 16
