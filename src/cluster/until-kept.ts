/**
 * Waiting until an audience stays although a machine is lost.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'

interface KeepingOptions {
  /** Whose disks count. */
  readonly members: () => readonly string[]
  /** Whether one of them has told that it has the files. */
  readonly has: (name: string) => boolean
  /** Whether the object store has the file in as many copies as are needed. */
  readonly isStored: () => Promise<boolean>
}

export interface Kept {
  readonly isKept: boolean
  /** Members that have not told that they have the files. */
  readonly waitingFor: readonly string[]
}

/**
 * Resolves when most members have the files of an audience, or some time later the object store has them, or not in time.
 *
 * @param storedMs  after which the object store is asked
 */
export async function untilKept(
  { members, has, isStored }: KeepingOptions,
  { waitMs, storedMs }: { readonly waitMs: number; readonly storedMs: number },
): Promise<Kept> {
  const startedMs = monotonicMs()
  for (;;) {
    const all = members()
    const waitingFor = all.filter((name) => !has(name))
    const elapsedMs = monotonicMs() - startedMs
    const hasMost = 2 * (all.length - waitingFor.length) > all.length
    if (hasMost) return { isKept: true, waitingFor }
    if (elapsedMs >= storedMs && (await isStored())) return { isKept: true, waitingFor }
    if (elapsedMs >= waitMs) return { isKept: false, waitingFor }
    await sleep(limits.audienceKeptLookMs)
  }
}
