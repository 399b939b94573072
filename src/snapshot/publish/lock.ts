/**
 * One import or compaction at a time. Publishing takes the lock as an argument, so it cannot be forgotten. A
 * compaction has a second one, by which others know that they need only wait.
 *
 * @module
 */
import fs, { type BigIntStats } from 'node:fs'
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
  const compaction = await acquireCompaction(dataDirectory)
  try {
    return await holding(dataDirectory, (onLost) => acquire(dataDirectory, onLost), work)
  } finally {
    await compaction.release().catch(() => undefined)
  }
}

interface HeldLock {
  release(): Promise<void>
  /** Whether it still is the one that was taken. */
  isOwn(): boolean
}

type OnLost = (error: Error) => void

async function holding<T>(
  dataDirectory: string,
  take: (onLost: OnLost) => Promise<HeldLock>,
  work: (lock: DataLock) => Promise<T>,
): Promise<T> {
  let lost: Error | undefined
  const { release, isOwn } = await take((error) => {
    lost = error
  })
  const assertHeld = () => {
    if (!isOwn()) lost ??= new Error('another process has taken it')
    if (lost === undefined) return
    throw new OperatorError('Locked', `the lock of ${dataDirectory} was lost: ${lost.message}`)
  }
  try {
    return await work({ dataDirectory, assertHeld })
  } catch (error) {
    // Another process that has the lock has removed what this one had begun.
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
): Promise<HeldLock> {
  const startedMs = performance.now()
  for (let hasWaited = false; ; hasWaited = true) {
    const isCompacting = () => isHeld(compactionFile(dataDirectory))
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

async function acquire(dataDirectory: string, onCompromised: OnLost): Promise<HeldLock> {
  try {
    await createDirectory(dataDirectory)
    return await take(dataDirectory, importLock(dataDirectory), onCompromised)
  } catch (error) {
    throw refused(dataDirectory, 'import', error)
  }
}

const importLock = (dataDirectory: string) => join(dataDirectory, 'import.lock')

const compactionLock = (dataDirectory: string) => join(dataDirectory, 'compaction.lock')
/** What the library knows a lock by, so that the two must not have the same one. */
const compactionFile = (dataDirectory: string) => join(dataDirectory, 'compaction')

async function acquireCompaction(dataDirectory: string): Promise<HeldLock> {
  try {
    // A compaction that loses it goes on: the other lock says whether anything may be published.
    return await take(compactionFile(dataDirectory), compactionLock(dataDirectory), () => {})
  } catch (error) {
    throw refused(dataDirectory, 'compaction', error)
  }
}

async function take(file: string, lockfilePath: string, onCompromised: OnLost): Promise<HeldLock> {
  const own = new OwnLock()
  const options = { lockfilePath, realpath: false, stale: STALE_MS, retries: 0, onCompromised }
  const release = await lock(file, { ...options, fs: { ...fs, ...own.operations } })
  own.isTold = await tellsBirth(lockfilePath)
  return { release, isOwn: () => own.is(lockfilePath) }
}

/**
 * Makes and removes a lock for the library. It looks at a lock, and removes one that is stale later: another process may have
 * taken that over in between, and both would have a lock. So what is removed is looked at once more, in the same step.
 */
class OwnLock {
  /** Whether the system tells it from another one; otherwise the library does, within seconds. */
  isTold = true
  #identity: string | undefined

  readonly operations = {
    mkdir: inOneStep((path) => {
      fs.mkdirSync(path)
      this.#identity = identityOf(path)
    }),
    rmdir: inOneStep((path) => this.#remove(path)),
    /** When the process exits. */
    rmdirSync: (path: string) => this.#remove(path),
  }

  is(path: string): boolean {
    if (this.#identity === undefined) return false
    return this.isTold ? identityOf(path) === this.#identity : fs.existsSync(path)
  }

  #remove(path: string): void {
    const stats = statsOf(path)
    const isFresh = stats !== undefined && Date.now() - Number(stats.mtimeMs) <= STALE_MS
    if (isFresh && !this.is(path)) throw Object.assign(new Error(path), { code: 'ELOCKED' })
    fs.rmdirSync(path)
  }
}

const inOneStep =
  (work: (path: string) => void) =>
  (path: string, done: (error: unknown) => void): void => {
    let fault: unknown = null
    try {
      work(path)
    } catch (error) {
      fault = error
    }
    done(fault)
  }

let birthTold: Promise<boolean> | undefined

/** Whether the system says when a directory was made, and not, in the place of that, when it was changed last. */
function tellsBirth(path: string): Promise<boolean> {
  birthTold ??= (async () => {
    await sleep(BIRTH_MS)
    try {
      fs.chmodSync(path, fs.statSync(path).mode)
      const { birthtimeNs, ctimeNs } = fs.statSync(path, { bigint: true })
      return birthtimeNs > 0n && birthtimeNs !== ctimeNs
    } catch {
      return false
    }
  })()
  return birthTold
}

/** More than a tick of the clock of a file system. */
const BIRTH_MS = 20

/** A file system gives the number of a directory that is gone to a new one. */
function identityOf(path: string): string | undefined {
  const stats = statsOf(path)
  return stats && `${stats.ino} ${stats.birthtimeNs}`
}

/** Undefined without a directory, and where it cannot be looked at. */
function statsOf(path: string): BigIntStats | undefined {
  try {
    return fs.statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

async function isHeld(file: string): Promise<boolean> {
  return await check(file, { realpath: false, stale: STALE_MS })
}

function refused(dataDirectory: string, kind: 'import' | 'compaction', error: unknown) {
  const { code, path } = error as NodeJS.ErrnoException
  // Another process has taken the same stale lock over in the moment after this one.
  const isTaken = code === 'ENOENT' && path?.endsWith('.lock') && fs.existsSync(dataDirectory)
  if (code === 'ELOCKED' || isTaken) {
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
