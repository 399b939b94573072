/**
 * One import or compaction at a time. Publishing takes the lock as an argument, so it cannot be forgotten. A
 * compaction has a second one, by which others know that they need only wait.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { check, lock } from 'proper-lockfile'
import { createDirectory } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { refusalText } from '../../system-refusals.js'

/** The lock of one who died is taken over after this time; its owner renews it all the while. */
const STALE_MS = 15_000

export interface DataLock {
  readonly dataDirectory: string
  /** Throws if the lock was lost, as it is when this process was stopped for too long. */
  readonly assertHeld: () => void
}

/**
 * Creates the data directory if need be and holds its lock while `work` runs. Waits for a compaction, which a
 * service may have begun: an operator cannot know of it.
 *
 * @param onWait  called once, before it waits
 * @throws OperatorError  `Locked`
 */
export async function withDataLock<T>(
  dataDirectory: string,
  work: (lock: DataLock) => Promise<T>,
  onWait: () => void = () => {},
): Promise<T> {
  return holding(dataDirectory, (onLost) => acquireAfter(dataDirectory, onLost, onWait), work)
}

/**
 * The same for a compaction, which waits for nobody and for which others wait.
 *
 * @throws OperatorError  `Locked`
 */
export async function withCompactionLock<T>(
  dataDirectory: string,
  work: (lock: DataLock) => Promise<T>,
): Promise<T> {
  const release = await acquireCompaction(dataDirectory)
  try {
    return await holding(dataDirectory, (onLost) => acquire(dataDirectory, onLost), work)
  } finally {
    await release().catch(() => undefined)
  }
}

type Release = () => Promise<void>
type OnLost = (error: Error) => void

async function holding<T>(
  dataDirectory: string,
  take: (onLost: OnLost) => Promise<Release>,
  work: (lock: DataLock) => Promise<T>,
): Promise<T> {
  let lost: Error | undefined
  const release = await take((error) => {
    lost = error
  })
  const assertHeld = () => {
    if (lost === undefined) return
    throw new OperatorError('Locked', `the lock of ${dataDirectory} was lost: ${lost.message}`)
  }
  try {
    return await work({ dataDirectory, assertHeld })
  } catch (error) {
    // What this process had begun was removed by another one while it stood still.
    if (!existsSync(importLock(dataDirectory))) lost ??= new Error('another process has taken it')
    assertHeld()
    throw error
  } finally {
    // The work is done or has failed by now; a lock that stays behind goes stale by itself.
    if (lost === undefined) await release().catch(() => undefined)
  }
}

async function acquireAfter(
  dataDirectory: string,
  onLost: OnLost,
  onWait: () => void,
): Promise<Release> {
  const startedMs = performance.now()
  for (let hasWaited = false; ; hasWaited = true) {
    const isCompacting = () => isHeld(compactionLock(dataDirectory))
    // One that ends or begins meanwhile is to be waited for, too.
    const wasCompacting = await isCompacting()
    const isOver = performance.now() - startedMs > limits.compactionWaitMs
    try {
      return await acquire(dataDirectory, onLost)
    } catch (error) {
      if (!isLocked(error) || isOver || !(wasCompacting || (await isCompacting()))) throw error
    }
    if (!hasWaited) onWait()
    await sleep(limits.compactionPollMs)
  }
}

const isLocked = (error: unknown) => error instanceof OperatorError && error.code === 'Locked'

async function acquire(dataDirectory: string, onCompromised: OnLost): Promise<Release> {
  try {
    await createDirectory(dataDirectory)
    const lockfilePath = importLock(dataDirectory)
    return await lock(dataDirectory, { lockfilePath, stale: STALE_MS, retries: 0, onCompromised })
  } catch (error) {
    throw refused(dataDirectory, 'import', error)
  }
}

const importLock = (dataDirectory: string) => join(dataDirectory, 'import.lock')

/** The library knows its locks by these names, so that the two must not have the same one. */
const compactionLock = (dataDirectory: string) => join(dataDirectory, 'compaction')

async function acquireCompaction(dataDirectory: string): Promise<Release> {
  try {
    // Who loses it goes on: the other lock says whether anything may be published.
    const options = { realpath: false, stale: STALE_MS, retries: 0, onCompromised: () => {} }
    return await lock(compactionLock(dataDirectory), options)
  } catch (error) {
    throw refused(dataDirectory, 'compaction', error)
  }
}

async function isHeld(file: string): Promise<boolean> {
  return await check(file, { realpath: false, stale: STALE_MS })
}

function refused(dataDirectory: string, kind: 'import' | 'compaction', error: unknown) {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ELOCKED') {
    return new OperatorError(
      'Locked',
      `another ${kind} is using ${dataDirectory}, or was killed less than ` +
        `${STALE_MS / 1000} seconds ago: try again later`,
    )
  }
  return new OperatorError('Failed', `cannot use ${dataDirectory}: ${refusalText(error)}`, {
    cause: error,
  })
}
