/**
 * Sets or clears a mark.
 *
 * @module
 */
import { isMarked, type Marks, mark, unmark } from '../shard/suppressed.js'

/** @returns whether this changed anything */
export function setMark(marks: Marks, recipient: number, isSuppressed: boolean): boolean {
  if (isMarked(marks, recipient) === isSuppressed) return false
  if (isSuppressed) mark(marks, recipient)
  else unmark(marks, recipient)
  return true
}
