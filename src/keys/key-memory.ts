/**
 * Memory that all front threads of a process share with its main thread: how much each key is used, and
 * which changes to keys each front has applied. No thread waits for another one to count in it.
 *
 * @module
 */
import { limits } from '../limits.js'

export interface KeyMemory {
  /** For each key: see `WORD`. */
  readonly words: BigInt64Array
  /** For each key and each `USE_PLACES`, when it was last used, in milliseconds since 1970; 0 is never. */
  readonly usedMs: Float64Array
  /** The version of the keys that each front thread has applied. */
  readonly applied: Int32Array
}

/** Where uses of a key are noted: those of each of its two secrets, and of its certificates. */
export const USE_PLACES = [0, 1, 2] as const
export type UsePlace = (typeof USE_PLACES)[number]
export const CERTIFICATE_PLACE = 2

const WORD = {
  /** When the next request would be due if all came evenly, in nanoseconds of a clock of the process. */
  dueNs: 0,
  /** The day of UTC since 1970, and the rows on it: see `DAY`. */
  rows: 1,
  /** Lists that are under way. */
  lists: 2,
} as const
const WORD_COUNT = Object.keys(WORD).length

/** A day is worth so many rows, more than a day has. */
const DAY = 1n << 40n
const DAY_MS = 86_400_000
const SECOND_NS = 1_000_000_000n

export function createKeyMemory(frontCount: number): KeyMemory {
  const shared = (byteCount: number) => new SharedArrayBuffer(byteCount)
  return {
    words: new BigInt64Array(shared(limits.keyCount * WORD_COUNT * 8)),
    usedMs: new Float64Array(shared(limits.keyCount * USE_PLACES.length * 8)),
    applied: new Int32Array(shared(frontCount * 4)),
  }
}

export function noteApplied({ applied }: KeyMemory, frontIndex: number, version: number): void {
  Atomics.store(applied, frontIndex, version)
}

/** The version that every front thread has applied, or a later one. */
export function appliedByAll({ applied }: KeyMemory): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < applied.length; i++) least = Math.min(least, Atomics.load(applied, i))
  return least
}

/** Notes that a secret was used; another thread may do so at the same time, and either may win. */
export function noteUse({ usedMs }: KeyMemory, slot: number, place: UsePlace, nowMs: number): void {
  usedMs[USE_PLACES.length * slot + place] = nowMs
}

/** When a key was last used, by place. */
export function usesOf({ usedMs }: KeyMemory, slot: number): readonly number[] {
  return USE_PLACES.map((place) => usedMs[USE_PLACES.length * slot + place])
}

/**
 * Counts a request, if the key has sent no more than so many within the last second.
 *
 * @param nowNs  of `process.hrtime.bigint`, which all threads of a process share
 * @returns how many nanoseconds too early it comes; 0n if it was counted
 */
export function takeRequest(
  { words }: KeyMemory,
  slot: number,
  perSecond: number,
  nowNs: bigint,
): bigint {
  const at = WORD_COUNT * slot + WORD.dueNs
  const stepNs = SECOND_NS / BigInt(perSecond)
  for (;;) {
    const due = Atomics.load(words, at)
    const earlyNs = due - nowNs - (SECOND_NS - stepNs)
    if (earlyNs > 0n) return earlyNs
    const next = (due > nowNs ? due : nowNs) + stepNs
    if (Atomics.compareExchange(words, at, due, next) === due) return 0n
  }
}

/** @returns whether there may be one more list */
export function beginList({ words }: KeyMemory, slot: number, maxCount: number): boolean {
  const at = WORD_COUNT * slot + WORD.lists
  if (Atomics.add(words, at, 1n) < BigInt(maxCount)) return true
  Atomics.sub(words, at, 1n)
  return false
}

export function endList({ words }: KeyMemory, slot: number): void {
  Atomics.sub(words, WORD_COUNT * slot + WORD.lists, 1n)
}

/**
 * Counts rows, all of them or none.
 *
 * @returns how many rows were left for the day, and whether these were counted
 */
export function takeRows(
  { words }: KeyMemory,
  slot: number,
  rows: { readonly count: number; readonly perDay: number },
  nowMs: number,
): { readonly isTaken: boolean; readonly leftCount: number } {
  const at = WORD_COUNT * slot + WORD.rows
  const day = BigInt(dayOf(nowMs))
  for (;;) {
    const before = Atomics.load(words, at)
    const used = before / DAY === day ? before % DAY : 0n
    const leftCount = Math.max(0, rows.perDay - Number(used))
    if (rows.count > leftCount) return { isTaken: false, leftCount }
    const after = day * DAY + used + BigInt(rows.count)
    if (Atomics.compareExchange(words, at, before, after) === before) {
      return { isTaken: true, leftCount }
    }
  }
}

/** The rows of a key on a day. */
export function rowsOf({ words }: KeyMemory, slot: number, day: number): number {
  const word = Atomics.load(words, WORD_COUNT * slot + WORD.rows)
  return Number(word / DAY) === day ? Number(word % DAY) : 0
}

/** Counts rows that were sent before the start, or by another process. */
export function addRows({ words }: KeyMemory, slot: number, day: number, count: number): void {
  const at = WORD_COUNT * slot + WORD.rows
  for (;;) {
    const before = Atomics.load(words, at)
    const used = Number(before / DAY) === day ? before % DAY : 0n
    const after = BigInt(day) * DAY + used + BigInt(count)
    if (Atomics.compareExchange(words, at, before, after) === before) return
  }
}

/** Clears the use of a key, for another one in its place. Lists under way end by themselves. */
export function clearUse({ words, usedMs }: KeyMemory, slot: number): void {
  Atomics.store(words, WORD_COUNT * slot + WORD.dueNs, 0n)
  Atomics.store(words, WORD_COUNT * slot + WORD.rows, 0n)
  usedMs.fill(0, USE_PLACES.length * slot, USE_PLACES.length * (slot + 1))
}

/** The day of UTC since 1970. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS)
}

/** Until the next day of UTC. */
export function msLeftOfDay(nowMs: number): number {
  return DAY_MS - (nowMs % DAY_MS)
}
