/**
 * A set of small whole numbers that also knows how many members lie before any number, its *rank*:
 * for each 32 numbers two words, how many members come before them, and a bit for each that is one.
 * The kernel in descent/wasm reads the same words.
 *
 * @module
 */
import { bitCount } from '../bit-words.js'

export type RankedSet = Uint32Array

/** Words of a set of numbers below `end`; the kernel reads up to 64 numbers at a time behind `end`. */
export function rankedSetLength(end: number): number {
  return 2 * ((end >>> 5) + 1 + SPARE_GROUP_COUNT)
}

/** Fills in the ranks once all bits are there; returns how many members there are. */
export function rankMembers(set: RankedSet): number {
  let rank = 0
  for (let group = 0; group < set.length; group += 2) {
    set[group] = rank
    rank += bitCount(set[group + 1])
  }
  return rank
}

/** How many members are less than a number, which need not be a member. */
export function rankOf(set: RankedSet, item: number): number {
  const group = 2 * (item >>> 5)
  return set[group] + bitCount(set[group + 1] & ~(-1 << (item & 31)))
}

const SPARE_GROUP_COUNT = 2
