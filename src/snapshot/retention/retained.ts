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
  /** Of a compaction, the snapshot of its import; undefined of an import. */
  readonly importId: string | undefined
}

/**
 * Stay: the current one; of those that it was made from the newest, the newest good one, and pinned
 * ones. Somebody has rolled back from the others, or they were never current. They do not take the places
 * of those, and stay as long as an older one does: the newest of them, and the newest good one.
 *
 * Snapshots are counted by their imports. Of an import and its compactions the newest one stays in the place of
 * all; of those of the current one also the one before it, from which services may still go on.
 *
 * @param states  by ascending generation
 * @param lineage  ids of the current one and those it was made from, the newest first
 * @param keepCount  how many imports stay without being pinned, the current one among them; at least 1. Infinity
 *   where none may go
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
  const before = replacedBy(lineage[0], inLineage)
  if (before !== undefined) kept.add(before)
  const oldest = Number.isFinite(keepCount) ? Math.min(...[...kept].map(generationOf)) : 0
  const strays = newestFirst.filter(({ id }) => !lineage.includes(id) && generationOf(id) > oldest)
  const pinned = states.filter(({ isPinned }) => isPinned)
  return new Set([...kept, ...chosen(strays, keepCount), ...pinned.map(({ id }) => id)])
}

/** The least `keepCount` by which none of those that are there goes. */
export function countedImports(
  states: readonly RetainedState[],
  lineage: readonly string[],
): number {
  const newestFirst = states.toReversed()
  const isIn = ({ id }: RetainedState) => lineage.includes(id)
  const counts = [newestFirst.filter(isIn), newestFirst.filter((state) => !isIn(state))].map(
    (group) => unpinnedImports(group).length,
  )
  return Math.max(1, ...counts)
}

/** The newest ones that are not pinned, and the newest good one. */
function chosen(newestFirst: readonly RetainedState[], keepCount: number): Set<string> {
  const newest = unpinnedImports(newestFirst).slice(0, keepCount)
  const good = newestFirst.find(({ isGood }) => isGood)
  return new Set([...newest, ...(good === undefined ? [] : [good])].map(({ id }) => id))
}

/** Of each import the newest one, unless that is pinned. */
function unpinnedImports(newestFirst: readonly RetainedState[]): RetainedState[] {
  const imports = newestFirst.filter(
    (state, at) => newestFirst.findIndex((other) => importOf(other) === importOf(state)) === at,
  )
  return imports.filter(({ isPinned }) => !isPinned)
}

/** The next older one of the same import. */
function replacedBy(id: string, newestFirst: readonly RetainedState[]): string | undefined {
  const state = newestFirst.find((other) => other.id === id)
  if (state === undefined) return undefined
  const older = newestFirst.slice(newestFirst.indexOf(state) + 1)
  return older.find((other) => importOf(other) === importOf(state))?.id
}

/** The import of which a snapshot has the sources, whether or not its own snapshot is still there. */
function importOf({ id, importId }: Pick<RetainedState, 'id' | 'importId'>): string {
  return importId ?? id
}
