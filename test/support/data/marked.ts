/**
 * Marks on recipients, as the thread sets them that knows which phones are suppressed.
 *
 * @module
 */
import type { Shard } from '../../../src/shard/layout.js'
import { mark, unmark } from '../../../src/shard/suppressed.js'

/** Has those recipients marked, and no others, whose phone is suppressed for their source. */
export function markSuppressed(
  shards: readonly Shard[],
  isSuppressed: (phone: string, sourceId: number) => boolean,
): void {
  for (const { marks, phones, phoneOffsets, recipientCount, sourceId } of shards) {
    if (marks === null) throw new Error('shards in arenas have marks')
    for (let recipient = 0; recipient < recipientCount; recipient++) {
      const [start, end] = [phoneOffsets[recipient], phoneOffsets[recipient + 1]]
      const phone = Buffer.from(phones.subarray(start, end)).toString()
      if (isSuppressed(phone, sourceId)) mark(marks, recipient)
      else unmark(marks, recipient)
    }
  }
}
