/**
 * The lock of a data directory for a command, which says so if it must wait for it.
 *
 * @module
 */
import { type DataLock, withDataLock } from '../snapshot/publish/lock.js'
import { tell } from './output.js'

/** See `withDataLock`. */
export function lockData<T>(
  dataDirectory: string,
  work: (lock: DataLock) => Promise<T>,
): Promise<T> {
  return withDataLock(dataDirectory, work, () =>
    tell('a compaction is under way: waiting for its end'),
  )
}
