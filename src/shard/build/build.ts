/**
 * Builds the image of a shard: the index, and every column in the order of the index.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { RecipientColumns } from '../columns.js'
import {
  type Box,
  placeSections,
  type Section,
  type SectionName,
  type ShardImage,
} from '../layout.js'
import { NO_TIES } from '../ties/ties.js'
import { COPY_SLACK_BYTES, copyTexts, type Texts } from './copy-texts.js'
import { RECORD_ITEMS, sortRecords, takeRecords } from './kd-order.js'

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
  const { records, texts } = takeRows(columns, rows)
  sortRecords(rows.length, KD_NODE_SIZE)
  const { sections, imageBytes } = placeSections({
    index: indexBytes(rows.length),
    contacts: 4 * rows.length,
    numberOffsets: 4 * (rows.length + 1),
    numbers: texts.offsets[rows.length],
  })
  const memory = takeMemory(imageBytes + COPY_SLACK_BYTES)
  const { ids, box } = fillIndex(records, memory)
  fillColumns(records, ids, texts, memory, sections)
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

/** Kept from shard to shard: new memory costs more than what is done with it here. */
let own: Texts = { bytes: new Uint8Array(0), offsets: new Uint32Array(0) }

/**
 * The recipients of a shard by themselves, in the order of the import: read in kd order, those of a
 * large source lie so far apart that nearly every one is waited for. A record is longitude, latitude,
 * the rank among the recipients of the shard, and the contact. Good until it is called again; there is
 * more room for texts than they need.
 */
function takeRows(columns: RecipientColumns, rows: Uint32Array) {
  const recipientCount = rows.length
  const neededBytes = phoneBytes(columns, rows) + COPY_SLACK_BYTES
  if (recipientCount >= own.offsets.length || neededBytes > own.bytes.length) {
    own = { bytes: new Uint8Array(neededBytes), offsets: new Uint32Array(recipientCount + 1) }
  }
  const records = takeRecords(recipientCount)
  const { lngs, lats, contacts } = columns
  for (let rank = 0, at = 0; rank < recipientCount; rank++, at += RECORD_ITEMS) {
    const row = rows[rank]
    records[at] = lngs[row]
    records[at + 1] = lats[row]
    records[at + RANK] = rank
    records[at + CONTACT] = contacts[row]
  }
  copyTexts({ bytes: columns.phones, offsets: columns.phoneOffsets }, rows, own)
  return { records, texts: own }
}

/** Items of a record behind its position. */
const RANK = 2
const CONTACT = 3

function phoneBytes({ phoneOffsets }: RecipientColumns, rows: Uint32Array): number {
  let count = 0
  for (const row of rows) count += phoneOffsets[row + 1] - phoneOffsets[row]
  assert(count < 2 ** 32, 'offsets of phones are 32-bit')
  return count
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

/**
 * Writes the index at the beginning of `memory`, where it is the first section of the image; returns
 * the rank of each recipient in kd order, and their bounds.
 */
function fillIndex(records: Int32Array, memory: ArrayBuffer) {
  const recipientCount = records.length / RECORD_ITEMS
  new Uint8Array(memory, 0, 2).set(KD_MAGIC)
  new Uint16Array(memory, 2, 1)[0] = KD_NODE_SIZE
  new Uint32Array(memory, 4, 1)[0] = recipientCount
  const Ids = recipientCount < WIDE_ID_COUNT ? Uint16Array : Uint32Array
  const ids = new Ids(memory, KD_HEADER_BYTES, recipientCount)
  const coords = new Int32Array(memory, coordsAt(recipientCount), 2 * recipientCount)
  let [minLng, minLat] = records
  let maxLng = minLng
  let maxLat = minLat
  for (let index = 0, at = 0; index < recipientCount; index++, at += RECORD_ITEMS) {
    const lng = records[at]
    const lat = records[at + 1]
    coords[2 * index] = lng
    coords[2 * index + 1] = lat
    ids[index] = records[at + RANK]
    minLng = Math.min(minLng, lng)
    minLat = Math.min(minLat, lat)
    maxLng = Math.max(maxLng, lng)
    maxLat = Math.max(maxLat, lat)
  }
  const box: Box = { minLng, minLat, maxLng, maxLat }
  return { ids, box }
}

function fillColumns(
  records: Int32Array,
  ids: Uint16Array | Uint32Array,
  texts: Texts,
  image: ArrayBuffer,
  sections: readonly Section[],
): void {
  const recipientCount = records.length / RECORD_ITEMS
  const start = (name: SectionName) =>
    sections.find((section) => section.name === name)?.byteOffset ?? assert.fail(name)
  const toContacts = new Uint32Array(image, start('contacts'), recipientCount)
  const toOffsets = new Uint32Array(image, start('numberOffsets'), recipientCount + 1)
  const toPhones = new Uint8Array(image, start('numbers'))
  for (let index = 0; index < recipientCount; index++) {
    toContacts[index] = records[RECORD_ITEMS * index + CONTACT]
  }
  copyTexts(texts, ids, { bytes: toPhones, offsets: toOffsets })
  // Clears the bytes that were copied too much.
  toPhones.fill(0, toOffsets[recipientCount])
}
