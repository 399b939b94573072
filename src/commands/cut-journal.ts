/**
 * Shortens the journal of changes to what the snapshots of a data directory still need of it: whoever goes back to
 * one of them gets the changes that came since, too.
 *
 * @module
 */
import { hasAgreedPart } from '../journal/agreed-part.js'
import { cutJournal } from '../journal/cut.js'
import { journalDirectory } from '../journal/files.js'
import { summaryOfJournal } from '../journal/summary.js'
import type { Log } from '../log.js'
import { listSnapshots, snapshotsDirectory, syncDirectory } from '../snapshot/directory.js'
import { readIdentities } from '../snapshot/identities/list.js'
import type { DataLock } from '../snapshot/publish/lock.js'
import { readEntriesSequence } from '../store/entries.js'
import { warn } from './output.js'

/** The snapshot that needs most of the journal. */
interface Needed {
  readonly snapshotId: string
  /** It has all batches up to this one. */
  readonly appliedSequence: number
}

interface CutJournal {
  /** Of the files that are left. */
  readonly byteLength: number
  /** Files that were removed. */
  readonly removedCount: number
  /** Undefined where no snapshot says what it needs; then nothing is removed. */
  readonly needed: Needed | undefined
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
    const needed = await mostNeeded(dataDirectory)
    if (needed === undefined) return NOTHING
    assertHeld()
    const removedCount = await cutJournal(directory, await cutUpTo(dataDirectory, needed))
    if (removedCount > 0) log.debug({ removedCount, ...needed }, 'shortened the journal')
    const { byteLength = 0 } = summaryOfJournal(directory) ?? {}
    return { byteLength, removedCount, needed }
  } catch (error) {
    warn(`the journal of changes could not be shortened: ${(error as Error).message}`)
    return undefined
  }
}

/** In a cluster, the store takes what comes into it from the journal. */
async function cutUpTo(dataDirectory: string, { appliedSequence }: Needed): Promise<number> {
  if (!hasAgreedPart(journalDirectory(dataDirectory))) return appliedSequence
  return Math.min(appliedSequence, await readEntriesSequence(dataDirectory))
}

const NOTHING: CutJournal = { byteLength: 0, removedCount: 0, needed: undefined }

/** A source without identities takes no changes, and needs none. */
async function mostNeeded(dataDirectory: string): Promise<Needed | undefined> {
  let most: Needed | undefined
  for (const snapshotId of await listSnapshots(dataDirectory)) {
    for (const { appliedSequence = 0 } of await readIdentities(dataDirectory, snapshotId)) {
      if (most === undefined || appliedSequence < most.appliedSequence) {
        most = { snapshotId, appliedSequence }
      }
    }
  }
  return most
}
