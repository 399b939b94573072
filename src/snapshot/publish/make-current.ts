/**
 * Makes a snapshot that is complete the current one, and removes the oldest.
 *
 * @module
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import {
  generationOf,
  listSnapshots,
  readCurrent,
  snapshotsDirectory,
  syncDirectory,
  TEMPORARY,
  writeCurrent,
} from '../directory.js'

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
 * Keeps the newest snapshots. Those that somebody has rolled back from, or that were never current, are
 * removed: kept, they would take the places of the snapshots to which one may want to go back. The
 * next import removes a snapshot that cannot be removed now.
 *
 * @param baseId  of the snapshot that the current one is made from, if there is one
 */
export async function prune(
  dataDirectory: string,
  currentId: string,
  baseId: string | undefined,
  log: Log,
): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    const ids = await listSnapshots(dataDirectory)
    const isLeft = (id: string) =>
      id === currentId || baseId === undefined || generationOf(id) <= generationOf(baseId)
    const kept = ids.filter(isLeft).slice(-limits.snapshotCount)
    for (const id of ids) {
      if (kept.includes(id)) continue
      // Renamed first, so that half a snapshot never has the name of one.
      await rename(join(snapshots, id), join(snapshots, id + TEMPORARY))
      await rm(join(snapshots, id + TEMPORARY), { recursive: true })
    }
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'an old snapshot could not be removed')
  }
}
