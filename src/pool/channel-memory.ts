/**
 * Memory that a front thread shares with one of its query workers: a ring of slots. The front writes a
 * task into the next slot and publishes it. The worker takes tasks in their order, and leaves what it
 * found in the slot of the task. Two counters say how far each of them is; they run over and begin
 * again.
 *
 * @module
 */
import { limits } from '../limits.js'

export interface ChannelMemory {
  /** Touched by the functions of this file alone. */
  readonly control: Int32Array
  readonly slots: readonly Slot[]
}

export interface Slot {
  /** How many queries there are, or `BY_MESSAGE`, or `CLOSE`; and, when done, microseconds that it took. */
  readonly head: Uint32Array
  readonly words: Uint32Array
  readonly floats: Float64Array
  /** As `writeFindings` leaves them, or `BY_MESSAGE` in the first word. */
  readonly findings: Uint32Array
}

/** What is too long for a slot travels as a message beside it. */
export const BY_MESSAGE = 0xffff_ffff

/** No task: nothing follows. */
export const CLOSE = 0xffff_fffe

/** A power of two, and more than the tasks that a worker has at a time (pool/placement.ts). */
const SLOT_COUNT = 8
const CONTROL_BYTES = 256
const HEAD_BYTES = 64
const SLOT_BYTES =
  HEAD_BYTES +
  8 * limits.slotFloatCount +
  4 * limits.slotWordCount +
  4 * limits.slotFindingWordCount

export function createChannelBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(CONTROL_BYTES + SLOT_COUNT * SLOT_BYTES)
}

export function layOutChannel(buffer: SharedArrayBuffer): ChannelMemory {
  const slots = Array.from({ length: SLOT_COUNT }, (_, slot): Slot => {
    const headAt = CONTROL_BYTES + slot * SLOT_BYTES
    const floatsAt = headAt + HEAD_BYTES
    const wordsAt = floatsAt + 8 * limits.slotFloatCount
    const findingsAt = wordsAt + 4 * limits.slotWordCount
    return {
      head: new Uint32Array(buffer, headAt, 2),
      floats: new Float64Array(buffer, floatsAt, limits.slotFloatCount),
      words: new Uint32Array(buffer, wordsAt, limits.slotWordCount),
      findings: new Uint32Array(buffer, findingsAt, limits.slotFindingWordCount),
    }
  })
  return { control: new Int32Array(buffer, 0, CONTROL_BYTES / 4), slots }
}

/** A counter when one more task is counted. */
export function next(count: number): number {
  return (count + 1) | 0
}

/** The slot of the task behind so many others. */
export function slotOf(count: number): number {
  return count & (SLOT_COUNT - 1)
}

/** For the front: so many tasks are there now. */
export function publish({ control }: ChannelMemory, publishedCount: number): void {
  Atomics.store(control, AT.published, publishedCount)
  if (Atomics.load(control, AT.sleeps) === 1) Atomics.notify(control, AT.published)
}

/** For the front: wakes the worker if it sleeps, to look once more whether there is a task. */
export function wakeWorker({ control }: ChannelMemory): void {
  Atomics.notify(control, AT.published)
}

/** For the worker: sleeps until there is a task behind so many others. */
export function waitForTask({ control }: ChannelMemory, doneCount: number): void {
  while (Atomics.load(control, AT.published) === doneCount) {
    Atomics.store(control, AT.sleeps, 1)
    // The front looks at `sleeps` after it has published: one of the two sees what the other did.
    Atomics.wait(control, AT.published, doneCount)
    Atomics.store(control, AT.sleeps, 0)
  }
}

/**
 * For the worker: so many tasks are done.
 *
 * @returns whether the front wants to be told of it
 */
export function countDone({ control }: ChannelMemory, doneCount: number): boolean {
  Atomics.store(control, AT.done, doneCount)
  return Atomics.exchange(control, AT.wanted, 0) === 1
}

/** For the front: whether more tasks are done than so many. */
export function hasDoneMore({ control }: ChannelMemory, drainedCount: number): boolean {
  return Atomics.load(control, AT.done) !== drainedCount
}

/**
 * For the front: it is told when more tasks are done than so many.
 *
 * @returns false when more are done already; then it may not be told
 */
export function wantToBeTold({ control }: ChannelMemory, drainedCount: number): boolean {
  Atomics.store(control, AT.wanted, 1)
  // The worker looks at `wanted` after it has counted: one of the two sees what the other did.
  return Atomics.load(control, AT.done) === drainedCount
}

/** Places in `control`, on lines of the cache of their own where different threads write. */
const AT = {
  /** Tasks that the front has published. The worker sleeps on this word. */
  published: 0,
  /** Tasks that the worker has done. */
  done: 16,
  /** Whether the worker sleeps, or is about to: 1 if so. */
  sleeps: 17,
  /** Whether the front wants to be told when a task is done: 1 if so. */
  wanted: 32,
} as const
