/**
 * All phones of one suppression list in memory, to compare them with all recipients.
 *
 * @module
 */
import { limits } from '../limits.js'
import { firstPlace } from '../shard/hash-table.js'
import { phonesOf, type Scope } from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'
import { createPhoneTable, findPlace, type PhoneColumn, type PhoneTable } from './phone-table.js'

/** Phones read between two pauses. */
const PIECE_COUNT = 20_000

/**
 * Reads a list, with pauses in which it may change: what changes then must be looked at again.
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
  const column: PhoneColumn = { count: readCount, phoneOffsets: offsets, phones: bytes }
  return createPhoneTable(column)
}

/** Whether a list has a phone, from byte `start` to byte `end`. */
export function isListed(
  table: PhoneTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
): boolean {
  return findPlace(table, bytes, start, end, hash, firstPlace(table, hash)) >= 0
}

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
