/**
 * Tables of phones in memory: of a column, to find its recipients by phone, and of a suppression list, to compare it with
 * all recipients.
 *
 * @module
 */
import { limits } from '../limits.js'
import { hashBytes } from '../shard/hash-bytes.js'
import {
  createHashTable,
  firstPlace,
  type HashTable,
  indexAt,
  nextPlace,
} from '../shard/hash-table.js'
import { phonesOf, type Scope } from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'

/** Phones as UTF-8, end to end. */
interface PhoneColumn {
  readonly count: number
  /** Where each phone starts in `phones`, and the end of the last one. */
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
}

export interface PhoneTable extends HashTable {
  readonly column: PhoneColumn
}

export function createPhoneTable(column: PhoneColumn): PhoneTable {
  const { count, phones, phoneOffsets } = column
  const hashOf = (index: number) => hashBytes(phones, phoneOffsets[index], phoneOffsets[index + 1])
  return { column, ...createHashTable(count, hashOf) }
}

export function phoneTableOf(phones: readonly string[]): PhoneTable {
  const { length: count } = phones
  const phoneOffsets = new Uint32Array(count + 1)
  for (const [i, phone] of phones.entries()) {
    phoneOffsets[i + 1] = phoneOffsets[i] + Buffer.byteLength(phone)
  }
  const bytes = Buffer.alloc(phoneOffsets[count])
  for (const [i, phone] of phones.entries()) bytes.write(phone, phoneOffsets[i])
  return createPhoneTable({ count, phoneOffsets, phones: bytes })
}

/**
 * Reads all phones of a suppression list, with pauses in which it may change: what changes then must be compared again.
 *
 * @param count  how many phones it has, about
 */
export function* readListed(
  tables: Tables,
  scope: Scope,
  count: number,
): Generator<void, PhoneTable> {
  let offsets = new Uint32Array(count + 1)
  let bytes: Buffer = Buffer.alloc(16 * count)
  let readCount = 0
  let byteCount = 0
  let last: string | undefined
  for (;;) {
    let pieceCount = 0
    for (const phone of phonesOf(tables, scope, last, PIECE_COUNT)) {
      if (byteCount + limits.phoneBytes > bytes.length) bytes = grown(bytes)
      if (readCount + 1 === offsets.length) offsets = longer(offsets)
      byteCount += bytes.write(phone, byteCount)
      offsets[++readCount] = byteCount
      last = phone
      pieceCount++
    }
    if (pieceCount < PIECE_COUNT) break
    yield
  }
  return createPhoneTable({ count: readCount, phoneOffsets: offsets, phones: bytes })
}

/** Phones read between two pauses. */
const PIECE_COUNT = 20_000

function grown(bytes: Buffer): Buffer {
  const more = Buffer.alloc(2 * bytes.length + limits.phoneBytes)
  bytes.copy(more)
  return more
}

function longer(offsets: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * offsets.length)
  more.set(offsets)
  return more
}

/** Whether a table has the phone from byte `start` to byte `end`. */
export function isListed(
  table: PhoneTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
): boolean {
  return findPlace(table, bytes, start, end, hash, firstPlace(table, hash)) >= 0
}

/**
 * The next place in the table that has a phone, at `place` or behind it.
 *
 * @param hash  of the phone
 * @param place  `firstPlace` to begin with
 * @returns -1 if there is none
 */
export function findPlace(
  table: PhoneTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
  place: number,
): number {
  let at = nextPlace(table, hash, place)
  while (at >= 0 && !hasPhone(table.column, indexAt(table, at), bytes, start, end)) {
    at = nextPlace(table, hash, at + 1)
  }
  return at
}

function hasPhone(
  { phones, phoneOffsets }: PhoneColumn,
  index: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  let at = phoneOffsets[index]
  if (phoneOffsets[index + 1] - at !== end - start) return false
  for (let other = start; other < end; other++) {
    if (phones[at++] !== bytes[other]) return false
  }
  return true
}
