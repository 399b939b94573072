/**
 * Batches as the records of one group.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import { limits } from '../limits.js'
import { type PreparedBatch, UnstorableBatch } from './batch.js'
import { recordBytes, writeRecord } from './record.js'

interface EncodedGroup {
  /** Valid until the next group is encoded. */
  readonly bytes: Buffer
  /** The last record. */
  readonly last: Link
}

/** Makes groups in memory that it uses again. */
export class GroupEncoder {
  #memory: Buffer = Buffer.alloc(0)

  /**
   * @param previous  the record before the group
   * @throws UnstorableBatch  for more than `limits.journalGroupBytes`
   */
  encode(previous: Link, batches: readonly PreparedBatch[], timeMs: number): EncodedGroup {
    const byteCount = batches.reduce((sum, batch) => sum + recordBytes(batch), 0)
    if (byteCount > limits.journalGroupBytes) {
      throw new UnstorableBatch(
        `a group of batches may take ${limits.journalGroupBytes} bytes, and this takes ${byteCount}`,
      )
    }
    if (this.#memory.length < byteCount) this.#memory = Buffer.allocUnsafeSlow(2 * byteCount)
    const bytes = this.#memory.subarray(0, byteCount)
    const groupCount = batches.length
    let last = previous
    let end = 0
    for (const [groupIndex, batch] of batches.entries()) {
      const start = end
      end += recordBytes(batch)
      const { sourceId, batchId, changeCount, content, digest } = batch
      const body = {
        sourceId,
        batchId,
        changeCount,
        content,
        digest,
        groupIndex,
        groupCount,
        timeMs,
      }
      last = writeRecord(bytes, [start, end], last, body)
    }
    return { bytes, last }
  }
}
