/**
 * Makes a snapshot that is complete the current one, and removes the oldest.
 *
 * @module
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import {
  listSnapshots,
  readCurrent,
  snapshotsDirectory,
  syncDirectory,
  TEMPORARY,
  writeCurrent,
} from '../directory.js'
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

/** Removes the drafts that a crash left. Nobody else can be at work, since the caller has the lock. */
export async function removeTemporaries(snapshots: string): Promise<void> {
  for (const name of await readdir(snapshots)) {
    if (name.endsWith(TEMPORARY)) await rm(join(snapshots, name), { recursive: true })
  }
}

/**
 * Removes the snapshots that need not stay (`retainedIds`). None is removed where it cannot be told which
 * they are, and the next import removes a snapshot that cannot be removed now.
 */
export async function prune(
  dataDirectory: string,
  currentId: string,
  keepCount: number,
  log: Log,
): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    const ids = await listSnapshots(dataDirectory)
    const states = await readStates(dataDirectory, ids)
    const lineage = await readLineage(dataDirectory, currentId, ids)
    const retained = retainedIds(states, lineage, keepCount)
    for (const id of ids) {
      if (retained.has(id)) continue
      // Renamed first, so that half a snapshot never has the name of one.
      await rename(join(snapshots, id), join(snapshots, id + TEMPORARY))
      await rm(join(snapshots, id + TEMPORARY), { recursive: true })
    }
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'an old snapshot could not be removed')
  }
}
