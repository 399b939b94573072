/**
 * The version of the suppression lists by which the service answers: shared slots, which the thread that sets marks
 * writes and all others read.
 *
 * @module
 */

export type Progress = Int32Array

export function createProgress(): Progress {
  return new Int32Array(new SharedArrayBuffer(4 * Object.keys(SLOT).length))
}

/** All changes up to this version are marked in all snapshots. */
export function appliedVersion(progress: Progress): number {
  return Atomics.load(progress, SLOT.applied)
}

/** The last applied change that could change an answer: what was counted since is still right. */
export function effectiveVersion(progress: Progress): number {
  return Atomics.load(progress, SLOT.effective)
}

/** To be called when the marks are set. */
export function publishApplied(progress: Progress, version: number, isEffective: boolean): void {
  Atomics.store(progress, SLOT.applied, version)
  // Last, so that what is counted from now on is not older than what is asked for.
  if (isEffective) Atomics.store(progress, SLOT.effective, version)
}

const SLOT = { applied: 0, effective: 1 } as const
