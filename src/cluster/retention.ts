/**
 * What stays of snapshots and of the journal when all machines of a cluster have switched to a snapshot. One of them tells
 * what it keeps, so that all of them can go back to the same snapshots.
 *
 * @module
 */

import { syncDirectory } from '../durable-files.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots, readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { withCompactionLock } from '../snapshot/publish/lock.js'
import { prune, removeTemporaries } from '../snapshot/publish/make-current.js'
import { readLineage, readStates } from '../snapshot/retention/history.js'
import { neededChanges } from '../snapshot/retention/needed-changes.js'
import { countedImports } from '../snapshot/retention/retained.js'

export interface Retention {
  /** Imports whose snapshots stay without being pinned. */
  readonly importCount: number
  /** No snapshot needs this batch of the journal, or one before; 0 where that cannot be told. */
  readonly unneededSequence: number
}

/** What this machine keeps; all, where that cannot be told. */
export async function retentionHere(
  dataDirectory: string,
  currentId: string,
  log: Log,
): Promise<Retention> {
  try {
    const ids = await listSnapshots(dataDirectory)
    const states = await readStates(dataDirectory, ids)
    const lineage = await readLineage(dataDirectory, currentId, ids)
    const { appliedSequence = 0 } = (await neededChanges(dataDirectory)) ?? {}
    return { importCount: countedImports(states, lineage), unneededSequence: appliedSequence }
  } catch (fault) {
    const reason = (fault as Error).message
    log.warn({ reason }, 'no machine removes snapshots, since this one cannot tell which it keeps')
    return { importCount: limits.snapshotCountMax, unneededSequence: 0 }
  }
}

interface RemovedOptions {
  readonly currentId: string
  readonly importCount: number
  /** Ids of others that stay. */
  readonly neededIds: ReadonlySet<string>
  readonly log: Log
}

/**
 * Removes the snapshots that need not stay here. To last: what they needed of the journal may be removed then.
 *
 * @returns up to where nothing here needs the journal; 0 where that cannot be told
 * @throws OperatorError  `Locked` while an import or a compaction runs
 */
export async function removeOldSnapshots(
  dataDirectory: string,
  { currentId, importCount, neededIds, log }: RemovedOptions,
): Promise<number> {
  const snapshots = snapshotsDirectory(dataDirectory)
  // As a compaction, so that commands wait for the end of it.
  return await withCompactionLock(dataDirectory, async () => {
    // Of a machine that was killed as it did this.
    await removeTemporaries(snapshots)
    // A command may have made one current that is not announced yet.
    const made = (await readCurrent(dataDirectory)) ?? currentId
    const needed = new Set([...neededIds, made])
    await prune(dataDirectory, { currentId, keepCount: importCount, neededIds: needed }, log)
    await syncDirectory(snapshots)
    return (await neededChanges(dataDirectory))?.appliedSequence ?? 0
  })
}
