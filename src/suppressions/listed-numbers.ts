/**
 * All numbers of one do-not-contact list in memory, to compare them with all recipients.
 *
 * @module
 */
import { limits } from '../limits.js'
import { numbersOf, type Scope } from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'
import {
  createNumberTable,
  findPlace,
  firstPlace,
  type NumberColumn,
  type NumberTable,
} from './number-table.js'

/** Numbers read between two pauses. */
const PIECE_COUNT = 20_000

/**
 * Reads a list, with pauses in which it may change: what changes then must be looked at again.
 *
 * @param count  how many numbers it has, about
 */
export function* readListed(
  tables: Tables,
  scope: Scope,
  count: number,
): Generator<void, NumberTable> {
  let offsets = new Uint32Array(count + 1)
  let bytes: Buffer = Buffer.alloc(16 * count)
  let readCount = 0
  let byteCount = 0
  let last: string | undefined
  for (;;) {
    let pieceCount = 0
    for (const number of numbersOf(tables, scope, last, PIECE_COUNT)) {
      if (byteCount + limits.numberBytes > bytes.length) bytes = grown(bytes)
      if (readCount + 1 === offsets.length) offsets = longer(offsets)
      byteCount += bytes.write(number, byteCount)
      offsets[++readCount] = byteCount
      last = number
      pieceCount++
    }
    if (pieceCount < PIECE_COUNT) break
    yield
  }
  const column: NumberColumn = { count: readCount, numberOffsets: offsets, numbers: bytes }
  return createNumberTable(column)
}

/** Whether a list has a number, from byte `start` to byte `end`. */
export function isListed(
  table: NumberTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
): boolean {
  return findPlace(table, bytes, start, end, hash, firstPlace(table, hash)) >= 0
}

function grown(bytes: Buffer): Buffer {
  const more = Buffer.alloc(2 * bytes.length + limits.numberBytes)
  bytes.copy(more)
  return more
}

function longer(offsets: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * offsets.length)
  more.set(offsets)
  return more
}
