/**
 * Marks on recipients, as the thread sets them that knows which numbers are suppressed.
 *
 * @module
 */
import type { Shard } from '../../../src/shard/layout.js'
import { mark, unmark } from '../../../src/shard/suppressed.js'

/** Has those recipients marked, and no others, whose number is suppressed for their source. */
export function markSuppressed(
  shards: readonly Shard[],
  isSuppressed: (number: string, sourceId: number) => boolean,
): void {
  for (const { marks, numbers, numberOffsets, recipientCount, sourceId } of shards) {
    if (marks === null) throw new Error('shards in arenas have marks')
    for (let recipient = 0; recipient < recipientCount; recipient++) {
      const [start, end] = [numberOffsets[recipient], numberOffsets[recipient + 1]]
      const number = Buffer.from(numbers.subarray(start, end)).toString()
      if (isSuppressed(number, sourceId)) mark(marks, recipient)
      else unmark(marks, recipient)
    }
  }
}
