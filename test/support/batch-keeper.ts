/**
 * A sink that keeps what it is given, as texts and whole units.
 *
 * @module
 */
import type { RecipientBatch, RecipientSink } from '../../src/sources/batch.js'

export interface KeptRow {
  readonly number: string
  readonly lng: number
  readonly lat: number
  readonly contact: string
}

export class BatchKeeper implements RecipientSink {
  readonly rows: KeptRow[] = []

  add(batch: RecipientBatch): void {
    const text = (bytes: Uint8Array, offsets: Uint32Array, row: number) =>
      Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString()
    for (let row = 0; row < batch.recipientCount; row++) {
      this.rows.push({
        number: text(batch.numbers, batch.numberOffsets, row),
        lng: batch.lngs[row],
        lat: batch.lats[row],
        contact: text(batch.contacts, batch.contactOffsets, row),
      })
    }
  }
}
