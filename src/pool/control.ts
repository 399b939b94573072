/**
 * Memory that a front thread shares with its query workers: how many of them are ready, and flags
 * that one thread raises while the other is busy.
 *
 * @module
 */

/** Places in the memory. */
const SLOT = {
  /** Workers that have attached every shard since the pool began; each adds one. */
  attached: 0,
} as const

export type Control = Int32Array

export function createControl(): Control {
  return new Int32Array(new SharedArrayBuffer(Object.keys(SLOT).length * 4))
}

/** Called by a worker once it can answer. */
export function countAttached(control: Control): void {
  Atomics.add(control, SLOT.attached, 1)
}

export function attachedCount(control: Control): number {
  return Atomics.load(control, SLOT.attached)
}

/** A sign that one thread gives another while that is busy. */
export type Flag = Int32Array

export function createFlag(): Flag {
  return new Int32Array(new SharedArrayBuffer(4))
}

export function raise(flag: Flag): void {
  Atomics.store(flag, 0, 1)
}

export function isRaised(flag: Flag): boolean {
  return Atomics.load(flag, 0) === 1
}
