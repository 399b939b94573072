/**
 * Opens a file of a snapshot for as long as it is read, and says what is wrong with it by its path.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '../errors.js'
import { FormatFault } from './format-fault.js'

/**
 * @param byteLength  that the file must have
 * @throws OperatorError `SnapshotCorrupt`, whatever `read` throws
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
    throw corrupt(path, (error as Error).message, error)
  } finally {
    await file?.close()
  }
}

export function corrupt(path: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError('SnapshotCorrupt', `${path}: ${what}`, { cause })
}
