/**
 * How an access log fares: shared slots, which any thread may read at any time.
 *
 * @module
 */

export type LogCounters = Int32Array

export function createLogCounters(): LogCounters {
  return new Int32Array(new SharedArrayBuffer(4 * Object.keys(SLOT).length))
}

/** For whoever watches. */
export function logFigures(counters: LogCounters): {
  readonly droppedCount: number
  readonly queuedBytes: number
} {
  return {
    droppedCount: Atomics.load(counters, SLOT.dropped) >>> 0,
    queuedBytes: Atomics.load(counters, SLOT.queued),
  }
}

/** Adds to a count; returns what it was before. Counts of lines are modulo 2 ** 32. */
export function addTo(counters: LogCounters, slot: Slot, count: number): number {
  return Atomics.add(counters, SLOT[slot], count)
}

/**
 * - `queued`: bytes that are on their way to the file.
 * - `dropped`: lines that found no room, or were cut by a fault of the file.
 * - `written`: pieces that are in the file.
 */
type Slot = keyof typeof SLOT
const SLOT = { queued: 0, dropped: 1, written: 2 } as const
