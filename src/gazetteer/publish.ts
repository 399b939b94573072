/**
 * Makes a version of the gazetteer that is complete and verified the current one, and removes old ones.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, DIRECTORY_MODE, syncDirectory, syncFile, TEMPORARY } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { generationOf } from '../snapshot/directory.js'
import { withDataLock } from '../snapshot/publish/lock.js'
import { removeOnExit } from '../snapshot/publish/remove-on-exit.js'
import {
  areasDirectory,
  listVersions,
  readCurrentAreas,
  versionDirectory,
  writeCurrentAreas,
} from './directory.js'
import { DATA_FILE, LOCK_FILE } from './tables.js'

/** More than it takes for all readers. */
const LOCK_BYTES = 64 << 10

/** Where a version is made. */
export interface AreasPlace {
  /** An empty directory, where its files go. */
  readonly temporary: string
  /** The version that is current; undefined where there is none. */
  readonly before: string | undefined
}

/**
 * Publishes what `fill` puts into a directory, while nobody else writes.
 *
 * @param fill  returns when the files are there and verified, with the version that they are
 * @param onCommit  called when it is about to become current
 * @throws OperatorError  Locked, and what `fill` throws
 */
export async function publishVersion<Filled extends { readonly version: string }>(
  dataDirectory: string,
  fill: (place: AreasPlace) => Promise<Filled>,
  onCommit: () => void = () => {},
): Promise<Filled> {
  const areas = areasDirectory(dataDirectory)
  return await withDataLock(areas, async (lock) => {
    await removeTemporaries(areas)
    const before = readCurrentAreas(dataDirectory)
    const temporary = join(areas, `new${TEMPORARY}`)
    mkdirSync(temporary, { mode: DIRECTORY_MODE })
    const removal = removeOnExit(temporary, false)
    try {
      const filled = await fill({ temporary, before })
      await syncFile(join(temporary, DATA_FILE))
      await reserveLock(temporary)
      await syncDirectory(temporary)
      lock.assertHeld()
      onCommit()
      await makeCurrent(dataDirectory, temporary, filled.version)
      await removeOld(dataDirectory, filled.version, before)
      return filled
    } finally {
      await rm(temporary, { recursive: true, force: true })
      removal.forget()
    }
  })
}

/**
 * LMDB maps the file of its lock into memory. Where a disk has no room for it, its first touch would end a
 * service, so that all of it is written before.
 */
async function reserveLock(directory: string): Promise<void> {
  const path = join(directory, LOCK_FILE)
  await rm(path, { force: true })
  await createFile(path, [Buffer.alloc(LOCK_BYTES)])
}

async function makeCurrent(
  dataDirectory: string,
  temporary: string,
  version: string,
): Promise<void> {
  const directory = versionDirectory(dataDirectory, version)
  await rename(temporary, directory)
  try {
    await syncDirectory(areasDirectory(dataDirectory))
    await writeCurrentAreas(dataDirectory, version)
  } catch (error) {
    if (readCurrentAreas(dataDirectory) === version) {
      const advice = 'is current, but may not be after a power failure: import again'
      throw new OperatorError('Failed', `${version} ${advice}`, { cause: error })
    }
    await rename(directory, temporary).catch(() => undefined)
    throw error
  }
}

/** Later than all that are there, so that none ever has the name of another. */
export async function nextGeneration(dataDirectory: string): Promise<number> {
  const last = (await listVersions(dataDirectory)).at(-1)
  return last === undefined ? 1 : generationOf(last) + 1
}

async function removeTemporaries(areas: string): Promise<void> {
  for (const name of await readdir(areas)) {
    if (name.endsWith(TEMPORARY)) await rm(join(areas, name), { recursive: true })
  }
}

/**
 * Removes all versions but this one and the one that was current before. A service that still serves another
 * one goes on: it holds the file open and mapped, and its bytes stay until it closes it.
 */
async function removeOld(
  dataDirectory: string,
  version: string,
  before: string | undefined,
): Promise<void> {
  for (const other of await listVersions(dataDirectory)) {
    if (other === version || other === before) continue
    const directory = versionDirectory(dataDirectory, other)
    // Renamed first, so that half a version never has the name of one. The next import tries again.
    await rename(directory, directory + TEMPORARY).catch(() => undefined)
    await rm(directory + TEMPORARY, { recursive: true, force: true }).catch(() => undefined)
  }
}
