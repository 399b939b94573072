/**
 * Files that are there for good once they have their names: written, synced, named, and their directory synced. All
 * that Hickory writes once and reads for ever goes through here, but for what docs/operations/power.md names.
 *
 * @module
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600
/** Ends the name of what is not complete. */
export const TEMPORARY = '.tmp'

const WRITE_BYTES = 8 << 20

/**
 * Creates a directory and those above it that are missing, to last. Where a file system refuses to
 * create one with ENOENT, as /proc does, the recursive mkdir of Node.js tries for ever.
 */
export async function createDirectory(path: string): Promise<void> {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path) await createDirectory(parent)
  try {
    await mkdir(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    if (isDirectory(path)) return
    throw error
  }
  await syncDirectory(parent)
}

/** The same where nothing may happen meanwhile. */
export function createDirectorySync(path: string): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path) createDirectorySync(parent)
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    if (isDirectory(path)) return
    throw error
  }
  syncDirectorySync(parent)
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
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

/** The same where nothing may happen meanwhile, and no other process replaces the file. */
export function replaceFileSync(path: string, text: string): void {
  const temporary = path + TEMPORARY
  writeFileSync(temporary, text, { mode: FILE_MODE, flush: true })
  giveNameSync(temporary, path)
}

/** Gives a file or a directory that is on disk its name, in the place of one that has it. */
export async function giveName(temporary: string, path: string): Promise<void> {
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

export function giveNameSync(temporary: string, path: string): void {
  renameSync(temporary, path)
  syncDirectorySync(dirname(path))
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

export function writeAllSync(fd: number, bytes: Uint8Array, position: number): void {
  let count = 0
  while (count < bytes.length) {
    count += writeSync(fd, bytes, count, bytes.length - count, position + count)
  }
}

/** Makes names created, renamed or removed in a directory last, or what others have written to a file. */
export async function syncDirectory(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** An error leaves what was written in an unknown state: give it up. */
export const syncFile = syncDirectory

export function syncDirectorySync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
