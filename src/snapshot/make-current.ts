/**
 * Makes a snapshot that is complete the current one, and removes the oldest.
 *
 * @module
 */
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import {
  listSnapshots,
  readCurrent,
  snapshotsDirectory,
  syncDirectory,
  TEMPORARY,
  writeCurrent,
} from './directory.js'

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
    await rm(directory, { recursive: true })
    throw error
  }
}

/** What a crash left; nobody else can be at work, as we hold the lock. */
export async function removeTemporaries(snapshots: string): Promise<void> {
  for (const name of await readdir(snapshots)) {
    if (name.endsWith(TEMPORARY)) await rm(join(snapshots, name), { recursive: true })
  }
}

/** Keeps the newest snapshots. What cannot be removed now is removed by the next import. */
export async function prune(dataDirectory: string, currentId: string, log: Log): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    const ids = await listSnapshots(dataDirectory)
    for (const id of ids.slice(0, -limits.snapshotCount)) {
      if (id === currentId) continue
      // Renamed first, so that half a snapshot never goes by the name of one.
      await rename(join(snapshots, id), join(snapshots, id + TEMPORARY))
      await rm(join(snapshots, id + TEMPORARY), { recursive: true })
    }
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'an old snapshot could not be removed')
  }
}
