/**
 * The marks of one shard: set and cleared for the recipients that have a phone.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { hashBytes } from '../shard/hash-bytes.js'
import { firstPlace, indexAt } from '../shard/hash-table.js'
import { attachShard, type Shard, type ShardImage } from '../shard/layout.js'
import { isMarked, type Marks, mark, markedCount, unmark } from '../shard/suppressed.js'
import { isListed } from './listed-phones.js'
import { createPhoneTable, findPlace, type PhoneTable } from './phone-table.js'

/** A phone, its bytes and their hash. */
interface Wanted {
  readonly bytes: Uint8Array
  readonly hash: number
}

export function wantedPhone(phone: string): Wanted {
  const bytes = Buffer.from(phone)
  return { bytes, hash: hashBytes(bytes, 0, bytes.length) }
}

export class ShardMarks {
  readonly sourceId: number
  readonly #shard: Shard
  readonly #marks: Marks
  #table: PhoneTable | undefined

  constructor(image: ShardImage) {
    assert(image.marks !== null, 'a shard that is served has room for marks')
    this.sourceId = image.sourceId
    this.#shard = attachShard(image)
    this.#marks = image.marks
  }

  /** The recipients that have a phone. The first call builds a table of all phones. */
  *recipientsWith({ bytes, hash }: Wanted): Generator<number> {
    this.#table ??= this.#createTable()
    const table = this.#table
    const end = bytes.length
    let place = findPlace(table, bytes, 0, end, hash, firstPlace(table, hash))
    while (place >= 0) {
      yield indexAt(table, place)
      place = findPlace(table, bytes, 0, end, hash, place + 1)
    }
  }

  /** @returns whether this changed anything */
  set(recipient: number, isSuppressed: boolean): boolean {
    if (isMarked(this.#marks, recipient) === isSuppressed) return false
    if (isSuppressed) mark(this.#marks, recipient)
    else unmark(this.#marks, recipient)
    return true
  }

  /** Marks exactly the recipients whose phone is on one of the lists. */
  compare(lists: readonly PhoneTable[]): void {
    const { recipientCount, phones, phoneOffsets } = this.#shard
    if (lists.length === 0 && markedCount(this.#marks) === 0) return
    for (let recipient = 0; recipient < recipientCount; recipient++) {
      const start = phoneOffsets[recipient]
      const end = phoneOffsets[recipient + 1]
      const hash = hashBytes(phones, start, end)
      let isSuppressed = false
      for (const list of lists) {
        if (isListed(list, phones, start, end, hash)) isSuppressed = true
      }
      this.set(recipient, isSuppressed)
    }
  }

  #createTable(): PhoneTable {
    const { recipientCount: count, phones, phoneOffsets } = this.#shard
    return createPhoneTable({ count, phones, phoneOffsets })
  }
}
