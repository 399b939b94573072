/**
 * Which recipients of some shards the shapes of a request select, and how they count.
 *
 * @module
 */
import { holdsFor, type Shapes } from '../geometry/shapes.js'
import { countDirectly, selectArea } from './area.js'
import type { Budget } from './budget.js'
import { countContacts, firstOfContacts } from './contacts.js'
import { countDistinct, firstOfPhones } from './duplicates/distinct.js'
import type { Shard } from './layout.js'
import { selectNearest } from './nearest.js'
import { RunList, recipientCountOf } from './runs.js'

/** Recipients as they are, or each contact of a source once. */
export type CountMode = 'ContactLocation' | 'Contact'

/**
 * Counts the recipients, or the contacts, of each shard that the shapes select. Whoever is marked is
 * as if not there; what is marked meanwhile may or may not count.
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
  const hasRepeats = isDistinct && shards.some(({ repeats }) => repeats.recipients.length > 0)
  if (hasRepeats) {
    const runs = selectSources(shards, shapes, budget, mode)
    return Uint32Array.from(countDistinct(shards, runs, budget))
  }
  if (!needsWholeSources(shapes, mode)) {
    return countDirectly(shards, shapes, budget) ?? countSelected(shards, shapes, budget)
  }
  const counts = new Uint32Array(shards.length)
  for (const { first, members } of sourcesOf(shards)) {
    const runs = selectSource(members, shapes, budget)
    const sizes =
      mode === 'Contact' ? countContacts(members, runs, budget) : runs.map(recipientCountOf)
    counts.set(sizes, first)
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
  return isDistinct ? firstOfPhones(shards, runs, budget) : runs
}

/** Whether one task must have all shards of a source, since what one selects depends on the others. */
export function needsWholeSources({ nearest }: Shapes, mode: CountMode): boolean {
  return nearest.length > 0 || mode === 'Contact'
}

function selectSources(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
  mode: CountMode,
): Uint32Array[] {
  return sourcesOf(shards).flatMap(({ members }) => {
    const runs = selectSource(members, shapes, budget)
    return mode === 'Contact' ? firstOfContacts(members, runs, budget) : runs
  })
}

const selected = new RunList()

function countSelected(shards: readonly Shard[], shapes: Shapes, budget: Budget): Uint32Array {
  const counts = new Uint32Array(shards.length)
  for (const [at, shard] of shards.entries()) {
    selectArea(shard, shapes, selected, budget)
    counts[at] = selected.recipientCount()
  }
  return counts
}

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
