/**
 * One import at a time. Publishing takes the lock as an argument, so it cannot be forgotten.
 *
 * @module
 */
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import { OperatorError } from '../../errors.js'
import { createDirectory } from '../directory.js'

/** The lock of one who died is taken over after this time; its owner renews it all the while. */
const STALE_MS = 15_000

export interface DataLock {
  readonly dataDirectory: string
  /** Throws if the lock was lost, as it is when this process was stopped for too long. */
  readonly assertHeld: () => void
}

/** Creates the data directory if need be and holds its lock while `work` runs. */
export async function withDataLock<T>(
  dataDirectory: string,
  work: (lock: DataLock) => Promise<T>,
): Promise<T> {
  let lost: Error | undefined
  const release = await acquire(dataDirectory, (error) => {
    lost = error
  })
  const assertHeld = () => {
    if (lost === undefined) return
    throw new OperatorError('Locked', `the lock of ${dataDirectory} was lost: ${lost.message}`)
  }
  try {
    return await work({ dataDirectory, assertHeld })
  } finally {
    // The work is done or has failed by now; a lock that stays behind goes stale by itself.
    if (lost === undefined) await release().catch(() => undefined)
  }
}

async function acquire(
  dataDirectory: string,
  onCompromised: (error: Error) => void,
): Promise<() => Promise<void>> {
  try {
    await createDirectory(dataDirectory)
    const lockfilePath = join(dataDirectory, 'import.lock')
    return await lock(dataDirectory, { lockfilePath, stale: STALE_MS, retries: 0, onCompromised })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ELOCKED') {
      throw new OperatorError(
        'Locked',
        `another import is using ${dataDirectory}, or was killed less than ` +
          `${STALE_MS / 1000} seconds ago: try again later`,
      )
    }
    throw new OperatorError('Failed', `cannot use ${dataDirectory}: ${message}`, { cause: error })
  }
}
