/**
 * Marks on recipients whose phone is suppressed: nobody may count or list them. They lie in shared
 * memory behind the image of their shard, so that a mark that is set holds for all threads at once.
 *
 *   word 0   how many recipients are marked
 *   then     one bit a recipient, the first in the lowest bit of word 1
 *
 * One thread of the process sets marks, all others read them.
 *
 * The count is never less than the number of bits that are set: it rises before a bit is set, and
 * falls after one is cleared. So whoever reads a count of 0 has missed no mark but one that was
 * being set at that moment, of which nobody can have been told, and may leave the bits unread. Were
 * the count raised behind the bit, two threads that mark and unmark the same recipient could bring it to
 * 0 beside the mark of another one.
 *
 * Whoever is told of a mark, over any number of messages between threads, comes behind it: each
 * message is a synchronisation. Bits may therefore be read plainly; one that changes meanwhile is read
 * as it was or as it will be.
 *
 * @module
 */
import { bitCount, bitsWithin } from './bit-words.js'
import type { RunList } from './runs.js'

/** The marks of one shard. */
export type Marks = Int32Array

/** Room that the marks of a shard take, a multiple of four bytes. */
export function marksBytes(recipientCount: number): number {
  return 4 * (FIRST_WORD + Math.ceil(recipientCount / 32))
}

/** Exact while nobody sets or clears a mark, and never too low. */
export function markedCount(marks: Marks): number {
  return Atomics.load(marks, COUNT)
}

/** Whether bits are to be looked at; false costs one load. */
export function hasMarks(marks: Marks | null): marks is Marks {
  return marks !== null && Atomics.load(marks, COUNT) !== 0
}

export function isMarked(marks: Marks, recipient: number): boolean {
  return ((Atomics.load(marks, FIRST_WORD + (recipient >>> 5)) >>> (recipient & 31)) & 1) === 1
}

export function mark(marks: Marks, recipient: number): void {
  const bit = 1 << (recipient & 31)
  Atomics.add(marks, COUNT, 1)
  const before = Atomics.or(marks, FIRST_WORD + (recipient >>> 5), bit)
  if ((before & bit) !== 0) Atomics.sub(marks, COUNT, 1)
}

export function unmark(marks: Marks, recipient: number): void {
  const bit = 1 << (recipient & 31)
  const before = Atomics.and(marks, FIRST_WORD + (recipient >>> 5), ~bit)
  if ((before & bit) !== 0) Atomics.sub(marks, COUNT, 1)
}

/** How many of the recipients in runs are marked. */
export function countMarked(marks: Marks, { pairs, runCount }: RunList): number {
  let count = 0
  for (let i = 0; i < 2 * runCount; i += 2) {
    const start = pairs[i]
    const end = pairs[i + 1]
    const lastWord = (end - 1) >>> 5
    for (let word = start >>> 5; word <= lastWord; word++) {
      const bits = marks[FIRST_WORD + word]
      if (bits !== 0) count += bitCount(bitsWithin(bits, 32 * word, start, end))
    }
  }
  return count
}

/** Writes the recipients in runs that are not marked to `into`, another list. */
export function takeUnmarked(marks: Marks, { pairs, runCount }: RunList, into: RunList): void {
  into.clear()
  for (let i = 0; i < 2 * runCount; i += 2) {
    let start = pairs[i]
    const end = pairs[i + 1]
    const lastWord = (end - 1) >>> 5
    for (let word = start >>> 5; word <= lastWord; word++) {
      if (marks[FIRST_WORD + word] === 0) continue
      let bits = bitsWithin(marks[FIRST_WORD + word], 32 * word, start, end)
      while (bits !== 0) {
        const lowest = bits & -bits
        const marked = 32 * word + 31 - Math.clz32(lowest)
        if (start < marked) into.append(start, marked)
        start = marked + 1
        bits ^= lowest
      }
    }
    if (start < end) into.append(start, end)
  }
}

const COUNT = 0
const FIRST_WORD = 1
