/**
 * Shortens the journal of changes to what the snapshots of a data directory still need of it: whoever goes back to
 * one of them gets the changes that came since, too.
 *
 * @module
 */

import { syncDirectory } from '../durable-files.js'
import { cutJournal } from '../journal/cut.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal } from '../journal/reader.js'
import { summaryOfJournal } from '../journal/summary.js'
import type { Log } from '../log.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import type { DataLock } from '../snapshot/publish/lock.js'
import { type NeededChanges, neededChanges } from '../snapshot/retention/needed-changes.js'
import { warn } from './output.js'

interface CutJournal {
  /** Of the files that are left. */
  readonly byteLength: number
  /** Files that were removed. */
  readonly removedCount: number
  /** Undefined where no snapshot says what it needs; then nothing is removed. */
  readonly needed: NeededChanges | undefined
}

/**
 * To be called when a snapshot was published. What cannot be removed now, the next one removes; `undefined` says
 * that it could not.
 */
export async function shortenJournal(
  { dataDirectory, assertHeld }: DataLock,
  log: Log,
): Promise<CutJournal | undefined> {
  const directory = journalDirectory(dataDirectory)
  try {
    if (summaryOfJournal(directory) === undefined) return NOTHING
    // Snapshots that were removed must not come back with the power.
    await syncDirectory(snapshotsDirectory(dataDirectory))
    const needed = await neededChanges(dataDirectory)
    if (needed === undefined) return NOTHING
    assertHeld()
    // In a cluster, services do it when all machines have the snapshot.
    const isClustered = isClusterJournal(directory)
    const removedCount = isClustered ? 0 : await cutJournal(directory, needed.appliedSequence)
    if (removedCount > 0) log.debug({ removedCount, ...needed }, 'shortened the journal')
    const { byteLength = 0 } = summaryOfJournal(directory) ?? {}
    return { byteLength, removedCount, needed }
  } catch (error) {
    warn(`the journal of changes could not be shortened: ${(error as Error).message}`)
    return undefined
  }
}

const NOTHING: CutJournal = { byteLength: 0, removedCount: 0, needed: undefined }
