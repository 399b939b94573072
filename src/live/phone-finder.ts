/**
 * Finds the recipients of a snapshot that have a phone, in all sources. Its tables take five bytes a recipient.
 *
 * @module
 */
import { hashBytes } from '../shard/hash-bytes.js'
import {
  firstPlace,
  type HashTable,
  hashTableInSteps,
  indexAt,
  nextPlace,
} from '../shard/hash-table.js'
import type { Rows } from '../snapshot/load/rows.js'
import { inTurns } from './in-turns.js'
import type { LiveShard } from './live-shard.js'

/** A recipient of a snapshot. */
export interface Found {
  /** Index into the shards of the snapshot. */
  readonly shardIndex: number
  readonly recipient: number
}

interface ShardPhones {
  readonly sourceId: number
  readonly table: HashTable
  readonly rows: Rows
}

export class PhoneFinder {
  readonly #tables: readonly ShardPhones[]

  private constructor(tables: readonly ShardPhones[]) {
    this.#tables = tables
  }

  /**
   * Others are served meanwhile.
   *
   * @param shards  all of the snapshot
   * @throws OperatorError, or the reason of the signal
   */
  static async open(shards: readonly LiveShard[], signal?: AbortSignal): Promise<PhoneFinder> {
    const tables: ShardPhones[] = []
    for (const live of shards) {
      const { phones, phoneOffsets, recipientCount } = await live.columns()
      const hashOf = (index: number) =>
        hashBytes(phones, phoneOffsets[index], phoneOffsets[index + 1])
      const table = await inTurns(hashTableInSteps(recipientCount, hashOf), signal)
      tables.push({ sourceId: live.shard.sourceId, table, rows: live.rows })
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
    const hash = hashBytes(bytes, 0, bytes.length)
    const found: Found[] = []
    for (const [shardIndex, { sourceId, table, rows }] of this.#tables.entries()) {
      if (ofSource !== undefined && sourceId !== ofSource) continue
      let place = nextPlace(table, hash, firstPlace(table, hash))
      for (; place >= 0; place = nextPlace(table, hash, place + 1)) {
        const recipient = indexAt(table, place)
        if (bytes.equals(rows.phoneOf(recipient))) found.push({ shardIndex, recipient })
      }
    }
    return found
  }
}
