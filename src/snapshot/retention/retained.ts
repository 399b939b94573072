/**
 * Which snapshots stay when a new one was published.
 *
 * @module
 */
import { generationOf } from '../directory.js'

/** What is known of one that is there. */
export interface RetainedState {
  readonly id: string
  readonly isPinned: boolean
  /** Whether all of its sources passed their guards. */
  readonly isGood: boolean
}

/**
 * Stay: the current one; of those that it was made from the newest, the newest good one, and pinned
 * ones. Somebody has rolled back from the others, or they were never current. They do not take the places
 * of those, and stay as long as an older one does: the newest of them, and the newest good one.
 *
 * @param states  by ascending generation
 * @param lineage  ids of the current one and those it was made from, the newest first
 * @param keepCount  how many stay without being pinned, the current one among them; at least 1
 */
export function retainedIds(
  states: readonly RetainedState[],
  lineage: readonly string[],
  keepCount: number,
): ReadonlySet<string> {
  const newestFirst = states.toReversed()
  const inLineage = newestFirst.filter(({ id }) => lineage.includes(id))
  const kept = chosen(inLineage, keepCount)
  kept.add(lineage[0])
  const oldest = Math.min(...[...kept].map(generationOf))
  const strays = newestFirst.filter(({ id }) => !lineage.includes(id) && generationOf(id) > oldest)
  const pinned = states.filter(({ isPinned }) => isPinned)
  return new Set([...kept, ...chosen(strays, keepCount), ...pinned.map(({ id }) => id)])
}

/** The newest ones that are not pinned, and the newest good one. */
function chosen(newestFirst: readonly RetainedState[], keepCount: number): Set<string> {
  const newest = newestFirst.filter(({ isPinned }) => !isPinned).slice(0, keepCount)
  const good = newestFirst.find(({ isGood }) => isGood)
  return new Set([...newest, ...(good === undefined ? [] : [good])].map(({ id }) => id))
}
