/**
 * Where the gazetteer lies below the data directory:
 *
 *   areas/CURRENT               the version to be served, and a line end
 *   areas/import.lock/          held by whoever writes a version
 *   areas/<version>/            manifest.json, data.mdb and the lock of LMDB; never changed
 *   areas/<name>.tmp/           being written, or being removed; garbage when nobody writes
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../durable-files.js'
import { generationOf, SNAPSHOT_ID } from '../snapshot/directory.js'
import { corrupt, readFault } from '../snapshot/open-file.js'

/** Of the same form as the id of a snapshot: a generation, and digits of a digest. */
const AREAS_VERSION = SNAPSHOT_ID

export const areasDirectory = (dataDirectory: string) => join(dataDirectory, 'areas')
export const versionDirectory = (dataDirectory: string, version: string) =>
  join(areasDirectory(dataDirectory), version)
const currentFile = (dataDirectory: string) => join(areasDirectory(dataDirectory), 'CURRENT')

/** Whether the directory has a gazetteer, of whatever state. */
export const hasAreas = (dataDirectory: string) => existsSync(currentFile(dataDirectory))

/** Versions that are there, the oldest first. */
export async function listVersions(dataDirectory: string): Promise<string[]> {
  const names = await readdir(areasDirectory(dataDirectory)).catch((error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  })
  const versions = names.filter((name) => AREAS_VERSION.test(name))
  return versions.sort((left, right) => generationOf(left) - generationOf(right))
}

/**
 * The version that CURRENT names; undefined where there is no such file.
 *
 * @throws OperatorError  SnapshotCorrupt where it names none, or Failed
 */
export function readCurrentAreas(dataDirectory: string): string | undefined {
  const path = currentFile(dataDirectory)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw readFault(path, error)
  }
  const version = text.slice(0, -1)
  if (text.endsWith('\n') && AREAS_VERSION.test(version)) return version
  throw corrupt(path, 'it names no version of the gazetteer')
}

/** After a crash CURRENT names the old version or this one. */
export async function writeCurrentAreas(dataDirectory: string, version: string): Promise<void> {
  await replaceFile(currentFile(dataDirectory), `${version}\n`)
}
