/**
 * Finds phones in a column of them: a hash table of their indexes, in buckets that lie one behind the
 * other, so that no count of equal phones makes it slow to build. It takes five bytes a phone.
 *
 * @module
 */
import { hashBytes } from '../shard/hash-bytes.js'

/** Phones as UTF-8, one behind the other. */
export interface PhoneColumn {
  readonly count: number
  /** Where each phone starts in `phones`, and the end of the last one. */
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
}

export interface PhoneTable {
  readonly column: PhoneColumn
  /** Where each bucket starts in `items`, and the end of the last one. */
  readonly starts: Uint32Array
  /** The index of a phone in the lower bits; in the others, some bits of its hash. */
  readonly items: Uint32Array
  readonly indexBits: number
}

/** About 25 nanoseconds a phone. */
export function createPhoneTable(column: PhoneColumn): PhoneTable {
  const { count, phones, phoneOffsets } = column
  const bucketCount = bucketCountOf(count)
  const indexBits = 32 - Math.clz32(Math.max(1, count - 1))
  const hashes = new Int32Array(count)
  const starts = new Uint32Array(bucketCount + 1)
  for (let i = 0; i < count; i++) {
    const hash = hashBytes(phones, phoneOffsets[i], phoneOffsets[i + 1])
    hashes[i] = hash
    starts[bucketOf(hash, bucketCount)]++
  }
  let end = 0
  for (let bucket = 0; bucket <= bucketCount; bucket++) {
    end += starts[bucket]
    starts[bucket] = end
  }
  const items = new Uint32Array(count)
  for (let i = count - 1; i >= 0; i--) {
    const place = --starts[bucketOf(hashes[i], bucketCount)]
    items[place] = (hashes[i] << indexBits) | i
  }
  return { column, starts, items, indexBits }
}

/**
 * The next place in the table that has a phone, at `place` or behind it.
 *
 * @param hash  of the phone
 * @param place  `firstPlace` to begin with
 * @returns -1 when there is none
 */
export function findPlace(
  table: PhoneTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
  place: number,
): number {
  const { column, starts, items, indexBits } = table
  const bucketEnd = starts[bucketOf(hash, starts.length - 1) + 1]
  const mask = indexMask(indexBits)
  const upper = hash << indexBits
  for (let at = place; at < bucketEnd; at++) {
    const item = items[at]
    if ((item & ~mask) !== upper) continue
    if (hasPhone(column, item & mask, bytes, start, end)) return at
  }
  return -1
}

/** Where the places begin that could have a phone with this hash. */
export function firstPlace({ starts }: PhoneTable, hash: number): number {
  return starts[bucketOf(hash, starts.length - 1)]
}

/** The index in the column of the phone at a place. */
export function indexAt({ items, indexBits }: PhoneTable, place: number): number {
  return items[place] & indexMask(indexBits)
}

/** Few enough to take little, and many enough for a bucket to be read in one go. */
function bucketCountOf(count: number): number {
  return Math.max(1, Math.ceil(count / 4))
}

/** By the upper bits, since the lower ones are in the items. */
function bucketOf(hash: number, bucketCount: number): number {
  return Math.floor(((hash >>> 0) / 2 ** 32) * bucketCount)
}

function indexMask(indexBits: number): number {
  return (1 << indexBits) - 1
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
