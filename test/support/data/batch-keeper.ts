/**
 * Sinks: one that keeps what it is given, as texts and whole units, and one that does as it is told.
 *
 * @module
 */
import type { RecipientBatch, RecipientSink } from '../../../src/sources/batch.js'

export interface KeptRow {
  readonly phone: string
  readonly lng: number
  readonly lat: number
  readonly contact: string
}

export class BatchKeeper implements RecipientSink {
  readonly rows: KeptRow[] = []

  get recipientCount(): number {
    return this.rows.length
  }

  truncate(recipientCount: number): void {
    this.rows.splice(recipientCount)
  }

  add(batch: RecipientBatch): void {
    const text = (bytes: Uint8Array, offsets: Uint32Array, row: number) =>
      Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString()
    for (let row = 0; row < batch.recipientCount; row++) {
      this.rows.push({
        phone: text(batch.phones, batch.phoneOffsets, row),
        lng: batch.lngs[row],
        lat: batch.lats[row],
        contact: text(batch.contacts, batch.contactOffsets, row),
      })
    }
  }
}

/** A sink that keeps nothing. */
export function sinkThat(add: RecipientSink['add']): RecipientSink {
  return { recipientCount: 0, add, truncate: () => {} }
}
