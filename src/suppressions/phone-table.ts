/**
 * Finds phones in a column of them.
 *
 * @module
 */
import { hashBytes } from '../shard/hash-bytes.js'
import { createHashTable, type HashTable, indexAt, nextPlace } from '../shard/hash-table.js'

/** Phones as UTF-8, one behind the other. */
export interface PhoneColumn {
  readonly count: number
  /** Where each phone starts in `phones`, and the end of the last one. */
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
}

export interface PhoneTable extends HashTable {
  readonly column: PhoneColumn
}

export function createPhoneTable(column: PhoneColumn): PhoneTable {
  return { column, ...createHashTable(column.count, hashOfPhone(column)) }
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
  let at = nextPlace(table, hash, place)
  while (at >= 0 && !hasPhone(table.column, indexAt(table, at), bytes, start, end)) {
    at = nextPlace(table, hash, at + 1)
  }
  return at
}

function hashOfPhone({ phones, phoneOffsets }: PhoneColumn): (index: number) => number {
  return (index) => hashBytes(phones, phoneOffsets[index], phoneOffsets[index + 1])
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
