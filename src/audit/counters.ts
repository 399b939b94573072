/**
 * The state of an audit in shared slots, which any thread may read at any time.
 *
 * @module
 */

export type AuditCounters = Int32Array

export interface AuditFigures {
  /** Lines that were written since the start, modulo 2 ** 32. */
  readonly writtenCount: number
  /** Lines without a waiting caller that are not written yet. */
  readonly waitingCount: number
  /** Lines that were lost, since too many waited. */
  readonly lostCount: number
  /** Lines on which something waited that was refused then, since they could not be written. */
  readonly refusedCount: number
  /** Whether the last attempt to write failed. */
  readonly isFailing: boolean
  /** How long the last group of lines took from its first line to the disk, in microseconds. */
  readonly lagMicroseconds: number
}

export function createAuditCounters(): AuditCounters {
  return new Int32Array(new SharedArrayBuffer(4 * Object.keys(SLOT).length))
}

export function auditFigures(counters: AuditCounters): AuditFigures {
  const read = (slot: Slot) => Atomics.load(counters, SLOT[slot]) >>> 0
  return {
    writtenCount: read('written'),
    waitingCount: Atomics.load(counters, SLOT.waiting),
    lostCount: read('lost'),
    refusedCount: read('refused'),
    isFailing: read('failing') === 1,
    lagMicroseconds: read('lag'),
  }
}

/** Adds to a count; returns what it was before. */
export function addTo(counters: AuditCounters, slot: Slot, count: number): number {
  return Atomics.add(counters, SLOT[slot], count)
}

/** Sets a value. */
export function setTo(counters: AuditCounters, slot: Slot, value: number): void {
  Atomics.store(counters, SLOT[slot], value)
}

type Slot = keyof typeof SLOT
const SLOT = { written: 0, waiting: 1, lost: 2, refused: 3, failing: 4, lag: 5 } as const
