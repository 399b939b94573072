/**
 * The marks of suppressed recipients in shared memory: those of a shard, and those of the recipients that changes have
 * added to a source since its snapshot.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { hashBytes } from '../shard/hash-bytes.js'
import { firstPlace, indexAt } from '../shard/hash-table.js'
import { attachShard, hasColumns, type Shard, type ShardImage } from '../shard/layout.js'
import { isMarked, type Marks, mark, markedCount, marksBytes, unmark } from '../shard/suppressed.js'
import { createPhoneTable, findPlace, isListed, type PhoneTable } from './phone-table.js'

/** What the thread of changes has applied to a snapshot. */
export interface ChangedRecipients {
  /** Ignored if this snapshot is not attached. */
  readonly snapshotId: string
  /** Recipients that were removed from shards of the snapshot. */
  readonly shards: readonly { readonly shardIndex: number; readonly gone: Uint32Array }[]
  readonly deltas: readonly DeltaChange[]
}

/** Recipients that were added to a source, and those of them that were removed, in the order of their addition. */
export interface DeltaChange {
  readonly sourceId: number
  /** The phones of added recipients, UTF-8, end to end, and where each ends. */
  readonly phones: Uint8Array
  readonly phoneEnds: Uint32Array
  /** Indexes among all that were ever added. */
  readonly gone: Uint32Array
  /** Always the same for a source and a snapshot, with room for all that may be added. */
  readonly marks: Marks
}

/** Recipients whose marks are kept: those of a shard or of a delta. */
export interface Markable {
  readonly sourceId: number
  /** The recipients that have a phone, also removed ones. */
  recipientsWith(wanted: WantedPhone): Iterable<number>
  /** How many of them have not been removed. */
  countWith(wanted: WantedPhone): number
  /** @returns whether this changed anything */
  set(recipient: number, isSuppressed: boolean): boolean
  /** Marks exactly the recipients whose phone is on one of the lists. */
  compare(lists: readonly PhoneTable[]): void
}

interface WantedPhone {
  readonly phone: string
  readonly bytes: Uint8Array
  readonly hash: number
}

export function wantedPhone(phone: string): WantedPhone {
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

  /** The first call builds a table of all phones. */
  *recipientsWith({ bytes, hash }: WantedPhone): Generator<number> {
    const { recipientCount: count, phones, phoneOffsets } = this.#shard
    this.#table ??= createPhoneTable({ count, phones, phoneOffsets })
    const table = this.#table
    const end = bytes.length
    let place = findPlace(table, bytes, 0, end, hash, firstPlace(table, hash))
    while (place >= 0) {
      yield indexAt(table, place)
      place = findPlace(table, bytes, 0, end, hash, place + 1)
    }
  }

  countWith(wanted: WantedPhone): number {
    let count = 0
    for (const recipient of this.recipientsWith(wanted)) if (!this.#gone.has(recipient)) count++
    return count
  }

  remove(recipients: Uint32Array): void {
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
}

export class DeltaMarks implements Markable {
  readonly sourceId: number
  readonly #marks: Marks
  #count = 0
  readonly #recipients = new Map<string, number[]>()
  readonly #gone = new Set<number>()

  constructor(sourceId: number, marks: Marks) {
    this.sourceId = sourceId
    this.#marks = marks
  }

  /** @param isSuppressed  whether a phone is on a list that holds for the source, at this moment */
  change({ phones, phoneEnds, gone }: DeltaChange, isSuppressed: (phone: string) => boolean): void {
    const text = Buffer.from(phones.buffer, phones.byteOffset, phones.byteLength)
    let start = 0
    for (const end of phoneEnds) {
      const phone = text.toString('utf8', start, end)
      start = end
      const recipient = this.#count++
      const others = this.#recipients.get(phone)
      if (others === undefined) this.#recipients.set(phone, [recipient])
      else others.push(recipient)
      if (isSuppressed(phone)) this.set(recipient, true)
    }
    for (const recipient of gone) this.#gone.add(recipient)
  }

  recipientsWith({ phone }: Pick<WantedPhone, 'phone'>): readonly number[] {
    return this.#recipients.get(phone) ?? []
  }

  countWith(wanted: Pick<WantedPhone, 'phone'>): number {
    return this.recipientsWith(wanted).filter((recipient) => !this.#gone.has(recipient)).length
  }

  set(recipient: number, isSuppressed: boolean): boolean {
    return setMark(this.#marks, recipient, isSuppressed)
  }

  compare(lists: readonly PhoneTable[]): void {
    for (const [phone, recipients] of this.#recipients) {
      const { bytes, hash } = wantedPhone(phone)
      const isSuppressed = lists.some((list) => isListed(list, bytes, 0, bytes.length, hash))
      for (const recipient of recipients) this.set(recipient, isSuppressed)
    }
  }
}

/** @returns whether this changed anything */
function setMark(marks: Marks, recipient: number, isSuppressed: boolean): boolean {
  if (isMarked(marks, recipient) === isSuppressed) return false
  if (isSuppressed) mark(marks, recipient)
  else unmark(marks, recipient)
  return true
}
