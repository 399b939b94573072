/**
 * Finds the recipients of a snapshot that have a phone, in all sources. Its tables take five bytes a recipient.
 *
 * @module
 */
import { hashBytes } from '../shard/hash-bytes.js'
import { firstPlace, indexAt } from '../shard/hash-table.js'
import type { Shard } from '../shard/layout.js'
import { findPlace, type PhoneTable, phoneTableInSteps } from '../suppressions/phone-table.js'

/** A recipient of a snapshot. */
export interface Found {
  /** Index into the shards of the snapshot. */
  readonly shardIndex: number
  readonly recipient: number
}

export class PhoneFinder {
  readonly #tables: readonly { readonly sourceId: number; readonly table: PhoneTable }[]

  private constructor(tables: readonly { sourceId: number; table: PhoneTable }[]) {
    this.#tables = tables
  }

  /** Between the steps others may be served. */
  static *create(shards: readonly Shard[]): Generator<void, PhoneFinder> {
    const tables: { sourceId: number; table: PhoneTable }[] = []
    for (const { sourceId, recipientCount: count, phoneOffsets, phones } of shards) {
      const table = yield* phoneTableInSteps({ count, phoneOffsets, phones })
      tables.push({ sourceId, table })
    }
    return new PhoneFinder(tables)
  }

  /**
   * In the order of the snapshot.
   *
   * @param ofSource  the one source that is asked for; all unless given
   */
  with(phone: string, ofSource?: number): Found[] {
    const bytes = Buffer.from(phone)
    const end = bytes.length
    const hash = hashBytes(bytes, 0, end)
    const found: Found[] = []
    for (const [shardIndex, { sourceId, table }] of this.#tables.entries()) {
      if (ofSource !== undefined && sourceId !== ofSource) continue
      let place = findPlace(table, bytes, 0, end, hash, firstPlace(table, hash))
      while (place >= 0) {
        found.push({ shardIndex, recipient: indexAt(table, place) })
        place = findPlace(table, bytes, 0, end, hash, place + 1)
      }
    }
    return found
  }
}
