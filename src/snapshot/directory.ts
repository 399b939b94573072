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
import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.js'
import { readFault } from './open-file.js'

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600
export const TEMPORARY = '.tmp'

/** A generation of six digits or more, and eight hexadecimal digits of the digest. */
export const SNAPSHOT_ID = /^[0-9]{6,15}-[0-9a-f]{8}$/

const WRITE_BYTES = 8 << 20

export const snapshotsDirectory = (dataDirectory: string) => join(dataDirectory, 'snapshots')
const currentFile = (dataDirectory: string) => join(dataDirectory, 'CURRENT')

export const generationOf = (id: string) => Number(id.slice(0, id.indexOf('-')))

/**
 * Creates a directory and those above it that are missing, to last. Where a file system refuses to
 * create one with ENOENT, as /proc does, the recursive mkdir of Node.js tries for ever.
 */
export async function createDirectory(path: string): Promise<void> {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) await createDirectory(parent)
  try {
    await mkdir(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  await syncDirectory(parent)
}

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

/** Gives a file another content, to last; after a crash it has the old one or this one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = path + TEMPORARY
  await rm(temporary, { force: true })
  try {
    await createFile(temporary, [Buffer.from(text)])
    // As with every other file: what cannot be read back must not replace what can.
    if ((await readFile(temporary, 'utf8')) !== text) {
      throw new Error(`${temporary}: found other bytes than were written`)
    }
    await rename(temporary, path)
  } catch (error) {
    // The next import removes a file that cannot be removed now.
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
  await syncDirectory(dirname(path))
}

/**
 * Creates a file that must not be there yet, and returns when it is on disk. An error of fsync
 * leaves the file in an unknown state: give it up, do not try again.
 *
 * @param onWritten  called with each piece once it is written
 */
export async function createFile(
  path: string,
  parts: readonly Uint8Array[],
  onWritten?: (piece: Uint8Array) => void,
): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    for (const part of parts) {
      for (let start = 0; start < part.length; start += WRITE_BYTES) {
        const piece = part.subarray(start, start + WRITE_BYTES)
        await writeAll(file, piece)
        onWritten?.(piece)
      }
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** On a disk that is nearly full write() takes a part, and tells only by its result. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at)
    if (bytesWritten === 0) throw new Error('the disk takes no more bytes')
    at += bytesWritten
  }
}

/** Makes names created, renamed or removed in a directory last. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
