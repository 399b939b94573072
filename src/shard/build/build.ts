/**
 * Builds the image of a shard: the index, and every column in the order of the index.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { limits } from '../../limits.js'
import type { RecipientColumns } from '../columns.js'
import {
  type Box,
  placeSections,
  type Section,
  type SectionName,
  type ShardImage,
} from '../layout.js'
import { NO_TIES } from '../ties/ties.js'
import { sortRecords, takeRecords } from './kd-order.js'
import { RECORD_BYTES } from './kd-records.js'

/** A range of the index of this many recipients and one is not split any further. */
const KD_NODE_SIZE = 64

/** Gives memory of that many zeros at least, from its beginning. */
export type TakeMemory = (byteLength: number) => ArrayBuffer

/**
 * @param rows  the recipients of the shard, as indexes into `columns`, ascending and not empty
 * @param takeMemory  where the image is put
 */
export function buildShard(
  columns: RecipientColumns,
  rows: Uint32Array,
  sourceId: number,
  regionIndex: number,
  takeMemory: TakeMemory = (byteLength) => new ArrayBuffer(byteLength),
): ShardImage {
  assert(rows.length > 0, 'a shard has a recipient')
  const records = takeRecords(rows.length)
  const phoneBytes = takeRows(columns, rows, records)
  sortRecords(rows.length, KD_NODE_SIZE)
  const { sections, imageBytes } = placeSections({
    index: indexBytes(rows.length),
    contacts: 4 * rows.length,
    numberOffsets: 4 * (rows.length + 1),
    numbers: phoneBytes,
  })
  const memory = takeMemory(imageBytes + PHONE_ROOM_BYTES)
  const box = fillIndex(records, memory)
  fillColumns(columns, rows, records, memory, sections)
  return {
    sourceId,
    regionIndex,
    recipientCount: rows.length,
    contactCount: columns.contactCount,
    box,
    sections,
    image: new Uint8Array(memory, 0, imageBytes),
    arena: null,
    marks: null,
    contactTies: null,
    phoneTies: NO_TIES,
  }
}

/**
 * Where things are in a record behind the position: the rank among the recipients of the shard, the
 * contact, and room for the phone, the last byte of which is its length. Whatever is left behind would
 * have to be fetched in kd order, and nearly each time waited for.
 */
const RANK = 8
const CONTACT = 12
const PHONE = 16
const PHONE_ROOM_BYTES = RECORD_BYTES - PHONE
const PHONE_LENGTH = RECORD_BYTES - 1
// As the last byte of a double it must not make that no number.
assert(limits.phoneBytes < 0x7f)
/** A longer one stays where it is. */
const PHONE_BYTES_MAX = PHONE_ROOM_BYTES - 1

/**
 * Takes the recipients of a shard out of the source, in the order of the import; returns the length of
 * all phones.
 *
 * A phone is copied as if it had 16 bytes: a loop to its end is mispredicted each time. See
 * copy-texts.ts for why doubles do no harm; the length is what makes the second one a number.
 */
function takeRows(columns: RecipientColumns, rows: Uint32Array, records: DataView): number {
  const { lngs, lats, contacts, phoneOffsets, phones } = columns
  const view = new DataView(phones.buffer, phones.byteOffset, phones.byteLength)
  const wideEnd = phones.length - PHONE_ROOM_BYTES
  let phoneBytes = 0
  for (let rank = 0; rank < rows.length; rank++) {
    const row = rows[rank]
    const at = RECORD_BYTES * rank
    records.setInt32(at, lngs[row], true)
    records.setInt32(at + 4, lats[row], true)
    records.setInt32(at + RANK, rank, true)
    records.setInt32(at + CONTACT, contacts[row], true)
    const start = phoneOffsets[row]
    const byteCount = phoneOffsets[row + 1] - start
    if (start <= wideEnd) {
      records.setFloat64(at + PHONE, view.getFloat64(start, true), true)
      records.setFloat64(at + PHONE + 8, view.getFloat64(start + 8, true), true)
    } else {
      const copied = Math.min(byteCount, PHONE_BYTES_MAX)
      for (let byte = 0; byte < copied; byte++) {
        records.setUint8(at + PHONE + byte, phones[start + byte])
      }
    }
    records.setUint8(at + PHONE_LENGTH, byteCount)
    phoneBytes += byteCount
  }
  assert(phoneBytes < 2 ** 32, 'offsets of phones are 32-bit')
  return phoneBytes
}

/** Of a KDBush of Int32 coordinates: a header, the ids, up to a multiple of 8, and two coordinates. */
function indexBytes(recipientCount: number): number {
  return coordsAt(recipientCount) + 8 * recipientCount
}

function coordsAt(recipientCount: number): number {
  const idBytes = recipientCount * (recipientCount < WIDE_ID_COUNT ? 2 : 4)
  return KD_HEADER_BYTES + Math.ceil(idBytes / 8) * 8
}

const KD_HEADER_BYTES = 8
/** Magic, version 1 and the type Int32, as KDBush 4 has them. */
const KD_MAGIC = [0xdb, 0x15]
const WIDE_ID_COUNT = 65_536

/** Writes the index at the beginning of `memory`, the first section; returns the bounds. */
function fillIndex(records: DataView, memory: ArrayBuffer): Box {
  const recipientCount = records.byteLength / RECORD_BYTES
  new Uint8Array(memory, 0, 2).set(KD_MAGIC)
  new Uint16Array(memory, 2, 1)[0] = KD_NODE_SIZE
  new Uint32Array(memory, 4, 1)[0] = recipientCount
  const Ids = recipientCount < WIDE_ID_COUNT ? Uint16Array : Uint32Array
  const ids = new Ids(memory, KD_HEADER_BYTES, recipientCount)
  const coords = new Int32Array(memory, coordsAt(recipientCount), 2 * recipientCount)
  let minLng = records.getInt32(0, true)
  let minLat = records.getInt32(4, true)
  let maxLng = minLng
  let maxLat = minLat
  for (let index = 0; index < recipientCount; index++) {
    const at = RECORD_BYTES * index
    const lng = records.getInt32(at, true)
    const lat = records.getInt32(at + 4, true)
    coords[2 * index] = lng
    coords[2 * index + 1] = lat
    ids[index] = records.getInt32(at + RANK, true)
    minLng = Math.min(minLng, lng)
    minLat = Math.min(minLat, lat)
    maxLng = Math.max(maxLng, lng)
    maxLat = Math.max(maxLat, lat)
  }
  return { minLng, minLat, maxLng, maxLat }
}

function fillColumns(
  { phoneOffsets, phones }: RecipientColumns,
  rows: Uint32Array,
  records: DataView,
  image: ArrayBuffer,
  sections: readonly Section[],
): void {
  const start = (name: SectionName) =>
    sections.find((section) => section.name === name)?.byteOffset ?? assert.fail(name)
  const toContacts = new Uint32Array(image, start('contacts'), rows.length)
  const toOffsets = new Uint32Array(image, start('numberOffsets'), rows.length + 1)
  const toPhones = new DataView(image, start('numbers'))
  let put = 0
  for (let index = 0; index < rows.length; index++) {
    const at = RECORD_BYTES * index
    toContacts[index] = records.getInt32(at + CONTACT, true)
    const byteCount = records.getUint8(at + PHONE_LENGTH)
    // The next phone is written over what was too much.
    toPhones.setFloat64(put, records.getFloat64(at + PHONE, true), true)
    toPhones.setFloat64(put + 8, records.getFloat64(at + PHONE + 8, true), true)
    if (byteCount > PHONE_BYTES_MAX) {
      const from = phoneOffsets[rows[records.getInt32(at + RANK, true)]]
      for (let byte = 0; byte < byteCount; byte++)
        toPhones.setUint8(put + byte, phones[from + byte])
    }
    put += byteCount
    toOffsets[index + 1] = put
  }
  new Uint8Array(image, start('numbers')).fill(0, put)
}
