/**
 * Makes a snapshot that is complete the current one, and removes the oldest.
 *
 * @module
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory, TEMPORARY } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import { listSnapshots, readCurrent, snapshotsDirectory, writeCurrent } from '../directory.js'
import { heldSnapshotIds } from '../retention/audience-names.js'
import { readLineage, readStates } from '../retention/history.js'
import { retainedIds } from '../retention/retained.js'

/** @param temporary  the directory that becomes snapshot `id`; on disk, and verified */
export async function makeCurrent(
  dataDirectory: string,
  temporary: string,
  id: string,
): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  const directory = join(snapshots, id)
  await rename(temporary, directory)
  try {
    await syncDirectory(snapshots)
    await writeCurrent(dataDirectory, id)
  } catch (error) {
    if ((await readCurrent(dataDirectory)) === id) {
      throw new OperatorError(
        'Failed',
        `${id} is current, but may not be after a power failure: import again`,
        { cause: error },
      )
    }
    // The owner of the draft removes it. Until then half a snapshot must not have the name of one.
    await rename(directory, temporary).catch(() => undefined)
    throw error
  }
}

/**
 * Removes the drafts that a crash left, and gives a snapshot its name back that was about to be removed.
 * Nobody else can be at work, since the caller has the lock.
 */
export async function removeTemporaries(snapshots: string): Promise<void> {
  for (const name of await readdir(snapshots)) {
    if (name.endsWith(TEMPORARY)) await rm(join(snapshots, name), { recursive: true })
    if (name.endsWith(LEAVING)) {
      await rename(join(snapshots, name), join(snapshots, name.slice(0, -LEAVING.length)))
    }
  }
}

/** Behind the id of a snapshot that is whole, and is going to be removed unless an audience holds it. */
const LEAVING = '.leaving'

interface Pruning {
  readonly currentId: string
  /** As of `retainedIds`. */
  readonly keepCount: number
  /** Ids of others that stay; none unless given. */
  readonly neededIds?: ReadonlySet<string>
}

/**
 * Removes the snapshots that need not stay (`retainedIds`) and that no audience holds. None is removed
 * where it cannot be told which they are, and the next import removes a snapshot that cannot be removed now.
 */
export async function prune(
  dataDirectory: string,
  { currentId, keepCount, neededIds = new Set() }: Pruning,
  log: Log,
): Promise<void> {
  try {
    const ids = await listSnapshots(dataDirectory)
    const states = await readStates(dataDirectory, ids)
    const lineage = await readLineage(dataDirectory, currentId, ids)
    const retained = retainedIds(states, lineage, keepCount)
    const held = await heldSnapshotIds(dataDirectory, Date.now())
    for (const id of ids) {
      if (retained.has(id) || neededIds.has(id) || held.has(id)) continue
      await removeSnapshot(dataDirectory, id)
    }
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'an old snapshot could not be removed')
  }
}

/**
 * Removes a snapshot, unless an audience was frozen in it a moment ago. Whoever freezes one looks for the
 * snapshot after the audience has its name, and this looks for audiences after the snapshot has lost its
 * own: one of the two sees the other.
 */
export async function removeSnapshot(dataDirectory: string, id: string): Promise<void> {
  const directory = join(snapshotsDirectory(dataDirectory), id)
  await rename(directory, directory + LEAVING)
  const held = await heldSnapshotIds(dataDirectory, Date.now()).catch(() => undefined)
  if (held === undefined || held.has(id)) return await rename(directory + LEAVING, directory)
  // Renamed first, so that half a snapshot never has the name of one.
  await rename(directory + LEAVING, directory + TEMPORARY)
  await rm(directory + TEMPORARY, { recursive: true })
}
