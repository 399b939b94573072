/**
 * Opens a file of a snapshot for as long as it is read, and says what is wrong with it by its path.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '../errors.js'
import { FormatFault } from './format/blocks.js'

/**
 * @param byteLength  that the file must have
 * @throws OperatorError  as `readFault` says
 */
export async function withFile<T>(
  path: string,
  byteLength: number,
  read: (file: FileHandle) => Promise<T>,
): Promise<T> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const { size } = await file.stat()
    if (size !== byteLength) throw new FormatFault(`found ${size} bytes, expected ${byteLength}`)
    return await read(file)
  } catch (error) {
    throw readFault(path, error)
  } finally {
    await file?.close()
  }
}

/**
 * What an error says of the file that was read: `SnapshotCorrupt` only where bytes are wrong, the
 * file is not there or the disk cannot read it. A system that refuses, with EMFILE or EACCES or for
 * want of memory, says nothing of what is in it; then nothing older may take its place.
 */
export function readFault(path: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error
  const { message, code = '' } = error as NodeJS.ErrnoException
  if (error instanceof FormatFault || LOST.has(code)) return corrupt(path, message, error)
  return new OperatorError('Failed', `${path}: cannot be read: ${message}`, { cause: error })
}

const LOST: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EIO'])

export function isCorrupt(error: unknown): error is OperatorError {
  return error instanceof OperatorError && error.code === 'SnapshotCorrupt'
}

/** Whether a later version of Hickory wrote what was read: then it is not damaged, but cannot be used. */
export function isNewer(error: unknown): error is OperatorError {
  return error instanceof OperatorError && error.code === 'NewerFormat'
}

export function isUnusable(error: unknown): error is OperatorError {
  return isCorrupt(error) || isNewer(error)
}

/** In a word. */
export function stateOf(error: unknown): 'newer' | 'damaged' {
  return isNewer(error) ? 'newer' : 'damaged'
}

export function corrupt(path: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError('SnapshotCorrupt', `${path}: ${what}`, { cause })
}
