/**
 * The marks of one shard: set and cleared for the recipients that have a phone.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { hashBytes } from '../shard/hash-bytes.js'
import { firstPlace, indexAt } from '../shard/hash-table.js'
import { attachShard, hasColumns, type Shard, type ShardImage } from '../shard/layout.js'
import { type Marks, markedCount, marksBytes } from '../shard/suppressed.js'
import { isListed } from './listed-phones.js'
import { createPhoneTable, findPlace, type PhoneTable } from './phone-table.js'
import { setMark } from './set-mark.js'

/** Recipients whose marks are kept: those of a shard, or those that came since. */
export interface Markable {
  readonly sourceId: number
  /** The recipients that have a phone, gone or not. */
  recipientsWith(wanted: Wanted): Iterable<number>
  /** How many of them are there. */
  countWith(wanted: Wanted): number
  /** @returns whether this changed anything */
  set(recipient: number, isSuppressed: boolean): boolean
  /** Marks exactly the recipients whose phone is on one of the lists. */
  compare(lists: readonly PhoneTable[]): void
}

/** A phone, its bytes and their hash. */
interface Wanted {
  readonly phone: string
  readonly bytes: Uint8Array
  readonly hash: number
}

export function wantedPhone(phone: string): Wanted {
  const bytes = Buffer.from(phone)
  return { phone, bytes, hash: hashBytes(bytes, 0, bytes.length) }
}

export class ShardMarks implements Markable {
  readonly sourceId: number
  readonly #shard: Shard
  readonly #marks: Marks
  #table: PhoneTable | undefined
  readonly #gone = new Set<number>()

  constructor(image: ShardImage) {
    const shard = attachShard(image)
    this.sourceId = image.sourceId
    if (hasColumns(image)) {
      assert(image.marks !== null, 'a shard that is served has room for marks')
      this.#shard = shard
      this.#marks = image.marks
    } else {
      // Another machine holds it, and has its marks.
      this.#shard = { ...shard, recipientCount: 0 }
      this.#marks = new Int32Array(marksBytes(0) / 4)
    }
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

  countWith(wanted: Wanted): number {
    let count = 0
    for (const recipient of this.recipientsWith(wanted)) if (!this.#gone.has(recipient)) count++
    return count
  }

  /** Takes recipients that are there no more. */
  leave(recipients: Uint32Array): void {
    for (const recipient of recipients) this.#gone.add(recipient)
  }

  set(recipient: number, isSuppressed: boolean): boolean {
    return setMark(this.#marks, recipient, isSuppressed)
  }

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
