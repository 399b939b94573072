/**
 * The changes of several sources that are in the journal and not in a snapshot.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { LastChanges } from '../changes/last-changes.js'
import { JournalReader } from './reader.js'

interface CollectedBatches {
  /** What is left of the changes, by source; of those alone that have changes. */
  readonly bySource: ReadonlyMap<number, LastChanges>
  /** How many recipients come or go by them, or more. */
  readonly mostCount: number
  /** Other sources that have changes behind the lowest sequence. */
  readonly otherIds: ReadonlySet<number>
  /** All batches up to this one are in it. */
  readonly reached: number
}

interface Range {
  /** By source: up to which batch a snapshot has its changes. Changes of other sources are passed over. */
  readonly since: ReadonlyMap<number, number>
  readonly upTo: number
  /** Changes of different recipients with which it ends before `upTo`. */
  readonly heldCount: number
}

/**
 * @throws JournalGone  where some of the batches were removed
 * @throws JournalDamaged
 */
export async function collectBatches(
  directory: string,
  { since, upTo, heldCount }: Range,
): Promise<CollectedBatches> {
  const bySource = new Map<number, LastChanges>()
  const otherIds = new Set<number>()
  const reader = new JournalReader(directory)
  const from = Math.min(...since.values())
  let reached = from
  let count = 0
  let mostCount = 0
  try {
    for (const { sequence, sourceId, changes } of reader.read(from)) {
      if (sequence > upTo || count >= heldCount) break
      reached = sequence
      const known = since.get(sourceId)
      if (known === undefined) otherIds.add(sourceId)
      else if (sequence > known) {
        const last = bySource.get(sourceId) ?? new LastChanges()
        bySource.set(sourceId, last)
        count -= last.byIdentity.size
        for (const change of changes) {
          last.add(change)
          // One goes where another one comes, or everybody.
          mostCount += change.op === 'clear' ? Number.POSITIVE_INFINITY : 2
        }
        count += last.byIdentity.size
      }
      // Locks are renewed meanwhile.
      if (sequence % BATCHES_PER_TURN_COUNT === 0) await setImmediate()
    }
    return { bySource, mostCount, otherIds, reached }
  } finally {
    reader.close()
  }
}

const BATCHES_PER_TURN_COUNT = 64
