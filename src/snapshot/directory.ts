/**
 * Where a snapshot lies below the data directory, and what makes a change to it last:
 *
 *   CURRENT                     the id of the snapshot to be opened, and a line end
 *   pins.json                   the snapshots that are kept for ever
 *   import.lock/                held by the import or compaction that is under way
 *   compaction.lock/            held by a compaction, too: others wait for its end
 *   snapshots/<id>/             manifest, origin, shard files and identities; never changed
 *   snapshots/<name>.tmp/       being written, or being deleted; garbage when nobody imports
 *   snapshots/<id>.leaving/     whole, and about to be deleted unless an audience holds it
 *   audiences/                  frozen audiences (retention/audience-names.ts)
 *
 * @module
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { readFault } from './open-file.js'

/** A generation of six digits or more, and eight hexadecimal digits of the digest. */
export const SNAPSHOT_ID = /^[0-9]{6,15}-[0-9a-f]{8}$/

export const snapshotsDirectory = (dataDirectory: string) => join(dataDirectory, 'snapshots')
const currentFile = (dataDirectory: string) => join(dataDirectory, 'CURRENT')

export const generationOf = (id: string) => Number(id.slice(0, id.indexOf('-')))

/** Ids of the snapshots that are there, by ascending generation. */
export async function listSnapshots(dataDirectory: string): Promise<string[]> {
  const names = await readdir(snapshotsDirectory(dataDirectory)).catch(emptyIfMissing)
  const ids = names.filter((name) => SNAPSHOT_ID.test(name))
  return ids.sort((left, right) => generationOf(left) - generationOf(right))
}

/**
 * The id in CURRENT; undefined when there is no such file.
 *
 * @throws OperatorError  as `readFault` says
 */
export async function readCurrent(dataDirectory: string): Promise<string | undefined> {
  const path = currentFile(dataDirectory)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw readFault(path, error)
  }
  const id = text.slice(0, -1)
  if (text.endsWith('\n') && SNAPSHOT_ID.test(id)) return id
  throw new OperatorError(
    'SnapshotCorrupt',
    `${path}: found ${text.length} characters that are not a snapshot id and a line end`,
  )
}

/** Why CURRENT names no snapshot, where there is no such file. */
export function currentMissing(dataDirectory: string): string {
  return `there is no CURRENT in ${dataDirectory}`
}

/** Points CURRENT at a snapshot; after a crash it is the old id or this one. */
export async function writeCurrent(dataDirectory: string, id: string): Promise<void> {
  await replaceFile(currentFile(dataDirectory), `${id}\n`)
}

function emptyIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
