/**
 * Gives phones ids, the same for the same phone. Phones are dealt out by their hashes, and looked up
 * when some thousand have gathered that go to the same table, so that each table is small and stays in the
 * cache meanwhile: one table for all takes five times as long.
 *
 * @module
 */
import { PHONE_WORDS, PhoneTable, RECORD_WORDS } from './phone-table.js'

export class PhoneIds {
  readonly #buckets: readonly Bucket[]
  /** Those that are too long for a record, with their ids and one, negative if they came again. */
  readonly #long = new Map<string, number>()
  #ids = new Uint32Array(1_024)
  #phoneCount = 0
  #addedCount = 0

  /** @param phoneCount  how many will be added, about: for few of them it takes little memory */
  constructor(phoneCount: number) {
    const wanted = Math.ceil((2 * phoneCount) / BUCKET_COUNT)
    const recordCount = Math.min(RECORDS_PER_BUCKET_MAX, Math.max(1, wanted))
    this.#buckets = Array.from({ length: BUCKET_COUNT }, () => new Bucket(recordCount))
  }

  /** Adds the phone at [start, end). */
  add(view: DataView, start: number, end: number, hash: number): void {
    const place = this.#addedCount++
    if (place === this.#ids.length) this.#growIds()
    if (end - start > 4 * PHONE_WORDS) {
      this.#ids[place] = this.#idOfLong(view, start, end)
      return
    }
    const bucket = this.#buckets[Math.imul(hash, PRIME) >>> BUCKET_SHIFT]
    const { records } = bucket
    const at = bucket.end
    records[at] = hash
    records[at + PLACE] = place
    fill(records, at + PHONE, view, start, end)
    bucket.end = at + RECORD_WORDS
    if (bucket.end === records.length) this.#empty(bucket)
  }

  /** The id of each phone in the order in which they were added; and by id, 1 if it came again. */
  finish(): { ids: Uint32Array; cameAgain: Uint8Array } {
    for (const bucket of this.#buckets) this.#empty(bucket)
    const cameAgain = new Uint8Array(this.#phoneCount)
    for (const { table } of this.#buckets) table.noteAgain(cameAgain)
    for (const known of this.#long.values()) if (known < 0) cameAgain[-known - 1] = 1
    return { ids: this.#ids.subarray(0, this.#addedCount), cameAgain }
  }

  #empty(bucket: Bucket): void {
    const { records, table, end } = bucket
    const ids = this.#ids
    let count = this.#phoneCount
    for (let at = 0; at < end; at += RECORD_WORDS) {
      const id = table.idOf(records, at, count)
      if (id === count) count++
      ids[records[at + PLACE]] = id
    }
    this.#phoneCount = count
    bucket.end = 0
  }

  #idOfLong(view: DataView, start: number, end: number): number {
    const bytes = new Uint8Array(view.buffer, view.byteOffset + start, end - start)
    const text = String.fromCharCode(...bytes)
    const known = this.#long.get(text)
    this.#long.set(text, known === undefined ? ++this.#phoneCount : -Math.abs(known))
    return (known === undefined ? this.#phoneCount : Math.abs(known)) - 1
  }

  #growIds(): void {
    const grown = new Uint32Array(2 * this.#ids.length)
    grown.set(this.#ids)
    this.#ids = grown
  }
}

class Bucket {
  readonly records: Uint32Array
  readonly table = new PhoneTable()
  end = 0

  constructor(recordCount: number) {
    this.records = new Uint32Array(RECORD_WORDS * recordCount)
  }
}

const PLACE = 1
const PHONE = 2
const BUCKET_COUNT = 256
const BUCKET_SHIFT = 32 - Math.log2(BUCKET_COUNT)
const RECORDS_PER_BUCKET_MAX = 8_192
const PRIME = 0x27d4eb2f

function fill(
  records: Uint32Array,
  first: number,
  view: DataView,
  start: number,
  end: number,
): void {
  let put = first
  let at = start
  for (; at + 4 <= end; at += 4) records[put++] = view.getUint32(at, true)
  let rest = 0
  for (let shift = 0; at < end; at++, shift += 8) rest |= view.getUint8(at) << shift
  const last = first + PHONE_WORDS
  if (put < last) records[put++] = rest
  while (put < last) records[put++] = 0
}
