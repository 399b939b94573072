/**
 * Marks on recipients whose number is suppressed: nobody may count or list them. They lie in shared
 * memory behind the image of their shard, so that a mark that is set holds for all threads at once.
 *
 *   word 0   how many recipients are marked
 *   then     one bit a recipient, the first in the lowest bit of word 1
 *
 * One thread of the process sets marks, all others read them.
 *
 * @module
 */

/** The marks of one shard. */
export type Marks = Int32Array

/** Room that the marks of a shard take, a multiple of four bytes. */
export function marksBytes(recipientCount: number): number {
  return 4 * (FIRST_WORD + Math.ceil(recipientCount / 32))
}

export function markedCount(marks: Marks): number {
  return Atomics.load(marks, COUNT)
}

export function isMarked(marks: Marks, recipient: number): boolean {
  return ((Atomics.load(marks, FIRST_WORD + (recipient >>> 5)) >>> (recipient & 31)) & 1) === 1
}

export function mark(marks: Marks, recipient: number): void {
  const bit = 1 << (recipient & 31)
  const before = Atomics.or(marks, FIRST_WORD + (recipient >>> 5), bit)
  if ((before & bit) === 0) Atomics.add(marks, COUNT, 1)
}

export function unmark(marks: Marks, recipient: number): void {
  const bit = 1 << (recipient & 31)
  const before = Atomics.and(marks, FIRST_WORD + (recipient >>> 5), ~bit)
  if ((before & bit) !== 0) Atomics.sub(marks, COUNT, 1)
}

const COUNT = 0
const FIRST_WORD = 1
