/**
 * Which recipients of some shards the shapes of a request select, and how they count.
 *
 * @module
 */
import { holdsFor, type Shapes } from '../geometry/shapes.js'
import { countDirectly, selectArea, selectUnion } from './area.js'
import type { Budget } from './budget.js'
import type { Shard } from './layout.js'
import { selectNearest } from './nearest.js'
import { RunList, recipientCountOf } from './runs.js'
import { countAgain, firstsOf, type Shared, tiedLists, tiesOf } from './ties/each-once.js'
import { appendTied } from './ties/ties.js'

/** Recipients as they are, or each contact of a source once. */
export type CountMode = 'ContactLocation' | 'Contact'

/**
 * Counts the recipients, or the contacts, of each shard that the shapes select. Whoever is marked, or
 * beyond the mask, is as if not there; what is marked meanwhile may or may not count.
 *
 * @param shards  in the order of the snapshot; with all shards of a source where `needsWholeSources`,
 *   and all that are touched where `isDistinct`. In `Contact` mode a contact counts in the first of
 *   them that has it
 * @param isDistinct  whether each phone counts once, in the first of the shards that has it
 * @returns one count a shard, in the order of `shards`
 * @throws BudgetSpent
 */
export function countInside(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  mode: CountMode = 'ContactLocation',
  isDistinct = false,
): Uint32Array {
  const hasRepeats = isDistinct && shards.some(({ phoneTies }) => phoneTies.ids.length > 0)
  if (hasRepeats && mode === 'Contact') {
    const runs = selectSources(shards, shapes, budget, mode)
    return Uint32Array.from(firstsOf(shards, 'phone', runs, budget), recipientCountOf)
  }
  const shared = hasRepeats ? 'phone' : mode === 'Contact' ? 'contact' : null
  const tied = tiedLists(shared === null ? 0 : shards.length)
  const counts = countAll(shards, shapes, budget, shared, tied)
  if (shared === null) return counts
  const groups = shared === 'contact' ? sourcesOf(shards) : [{ first: 0, members: shards }]
  for (const { first, members } of groups) {
    const own = tied.slice(first, first + members.length)
    for (const [at, again] of countAgain(members, shared, own, budget).entries()) {
      counts[first + at] -= again
    }
  }
  return counts
}

/**
 * Selects the recipients of each shard that the shapes select; in `Contact` mode of each contact
 * the first one only, in the order of the shards and their recipients; of these, where each phone
 * counts once, the first one of each phone in the same order.
 *
 * @param shards  as for `countInside`
 * @returns the runs of each shard as [start, end) pairs, in the order of `shards`
 * @throws BudgetSpent
 */
export function selectInside(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  mode: CountMode = 'ContactLocation',
  isDistinct = false,
): Uint32Array[] {
  const runs = selectSources(shards, shapes, budget, mode)
  return isDistinct ? firstsOf(shards, 'phone', runs, budget) : runs
}

/**
 * Of recipients that were selected elsewhere, each of them: who counts. It needs no columns of a shard, only its ties.
 *
 * @param shards  as for `countInside`
 * @param runs  of each shard
 * @returns as of `selectInside`
 */
export function firstsAmong(
  shards: readonly Shard[],
  runs: readonly Uint32Array[],
  budget: Budget,
  mode: CountMode,
  isDistinct: boolean,
): Uint32Array[] {
  const firsts =
    mode === 'Contact'
      ? sourcesOf(shards).flatMap(({ first, members }) =>
          firstsOf(members, 'contact', runs.slice(first, first + members.length), budget),
        )
      : [...runs]
  return isDistinct ? firstsOf(shards, 'phone', firsts, budget) : firsts
}

/**
 * The recipients of a shard that the included layers cover, suppressed or not, as runs.
 *
 * @throws BudgetSpent
 */
export function coveredBy(shard: Shard, { included }: Shapes, budget: Budget): Uint32Array {
  selectUnion(shard, included, selected, budget)
  return selected.toPairs()
}

/** Whether one task must have all shards of a source, since what one selects depends on the others. */
export function needsWholeSources({ nearest }: Shapes, mode: CountMode): boolean {
  return nearest.length > 0 || mode === 'Contact'
}

/**
 * Counts the recipients of each shard, each of them.
 *
 * @param tied  of each shard, an empty list for those of them that share something, as runs of ranks
 */
function countAll(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  shared: Shared | null,
  tied: readonly RunList[],
): Uint32Array {
  if (shapes.nearest.length === 0) {
    return (
      countDirectly(shards, shapes, budget, shared, tied) ??
      countSelected(shards, shapes, budget, shared, tied)
    )
  }
  const runs = selectSources(shards, shapes, budget, 'ContactLocation')
  if (shared !== null) {
    for (const [at, pairs] of runs.entries()) {
      appendTied(tiesOf(shards[at], shared), pairs, tied[at], budget)
    }
  }
  return Uint32Array.from(runs, (pairs) => recipientCountOf(pairs))
}

function countSelected(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  shared: Shared | null,
  tied: readonly RunList[],
): Uint32Array {
  const counts = new Uint32Array(shards.length)
  for (const [at, shard] of shards.entries()) {
    selectArea(shard, shapes, selected, budget)
    counts[at] = selected.recipientCount()
    if (shared !== null) appendTied(tiesOf(shard, shared), selected.inUse(), tied[at], budget)
  }
  return counts
}

function selectSources(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  mode: CountMode,
): Uint32Array[] {
  return sourcesOf(shards).flatMap(({ members }) => {
    const runs = selectSource(members, shapes, budget)
    return mode === 'Contact' ? firstsOf(members, 'contact', runs, budget) : runs
  })
}

const selected = new RunList()

/** @param shards  of one source */
function selectSource(shards: readonly Shard[], shapes: Shapes, budget: Budget): Uint32Array[] {
  const nearest = shapes.nearest.filter((each) => holdsFor(each, shards[0].sourceId))
  if (nearest.length > 0) return selectNearest(shards, shapes, nearest, budget)
  return shards.map((shard) => {
    selectArea(shard, shapes, selected, budget)
    return selected.toPairs()
  })
}

function sourcesOf(shards: readonly Shard[]): { first: number; members: Shard[] }[] {
  const sources: { first: number; members: Shard[] }[] = []
  for (const [at, shard] of shards.entries()) {
    const last = sources.at(-1)
    if (last?.members[0].sourceId === shard.sourceId) last.members.push(shard)
    else sources.push({ first: at, members: [shard] })
  }
  return sources
}
