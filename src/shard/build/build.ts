/**
 * Builds the image of a shard: the index, and every column in the order of the index.
 *
 * @module
 */
import assert from 'node:assert/strict'
import KDBush from 'kdbush'
import type { RecipientColumns } from '../columns.js'
import {
  type Box,
  placeSections,
  type Section,
  type SectionName,
  type ShardImage,
} from '../layout.js'
import { NO_TIES } from '../ties/ties.js'
import { COPY_SLACK_BYTES, copyTexts } from './copy-texts.js'

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
  const taken = takeRows(columns, rows)
  const { sections, imageBytes } = placeSections({
    index: indexBytes(rows.length),
    contacts: 4 * rows.length,
    numberOffsets: 4 * (rows.length + 1),
    numbers: taken.phoneOffsets[rows.length],
  })
  const memory = takeMemory(imageBytes + COPY_SLACK_BYTES)
  const { ids } = buildIndex(taken, memory)
  fillColumns(taken, ids, memory, sections)
  return {
    sourceId,
    regionIndex,
    recipientCount: rows.length,
    contactCount: columns.contactCount,
    box: bounds(taken),
    sections,
    image: new Uint8Array(memory, 0, imageBytes),
    arena: null,
    marks: null,
    contactTies: null,
    phoneTies: NO_TIES,
  }
}

/** Kept from shard to shard: new memory costs more than what is done with it here. */
let own: RecipientColumns = ownColumns(0, 0)

/**
 * The recipients of a shard by themselves, in the order of the import: read in kd order, those of a
 * large source lie so far apart that nearly every one is waited for. Good until it is called again;
 * there is more room in the columns than they need.
 */
function takeRows(columns: RecipientColumns, rows: Uint32Array): RecipientColumns {
  const recipientCount = rows.length
  const neededBytes = phoneBytes(columns, rows) + COPY_SLACK_BYTES
  if (recipientCount > own.lngs.length || neededBytes > own.phones.length) {
    own = ownColumns(recipientCount, neededBytes)
  }
  const { lngs, lats, contacts, phoneOffsets, phones } = own
  const { lngs: allLngs, lats: allLats, contacts: allContacts } = columns
  for (let index = 0; index < recipientCount; index++) {
    const row = rows[index]
    lngs[index] = allLngs[row]
    lats[index] = allLats[row]
    contacts[index] = allContacts[row]
  }
  const all = { bytes: columns.phones, offsets: columns.phoneOffsets }
  copyTexts(all, rows, { bytes: phones, offsets: phoneOffsets })
  return { ...own, recipientCount, contactCount: columns.contactCount }
}

function ownColumns(recipientCount: number, phoneBytes: number): RecipientColumns {
  return {
    recipientCount,
    lngs: new Int32Array(recipientCount),
    lats: new Int32Array(recipientCount),
    contacts: new Uint32Array(recipientCount),
    contactCount: 0,
    phoneOffsets: new Uint32Array(recipientCount + 1),
    phones: new Uint8Array(phoneBytes),
  }
}

function phoneBytes({ phoneOffsets }: RecipientColumns, rows: Uint32Array): number {
  let count = 0
  for (const row of rows) count += phoneOffsets[row + 1] - phoneOffsets[row]
  assert(count < 2 ** 32, 'offsets of phones are 32-bit')
  return count
}

/** Of a KDBush of Int32 coordinates: a header, the ids, up to a multiple of 8, and two coordinates. */
function indexBytes(recipientCount: number): number {
  const idBytes = recipientCount * (recipientCount < 65_536 ? 2 : 4)
  return 8 + Math.ceil(idBytes / 8) * 8 + 8 * recipientCount
}

/** Builds the index at the beginning of `memory`, where it is the first section of the image. */
function buildIndex({ recipientCount, lngs, lats }: RecipientColumns, memory: ArrayBuffer) {
  // KDBush makes its memory by `new`; it needs no more than `indexBytes` of what it gets.
  const Memory = function takeThis() {
    return memory
  } as unknown as ArrayBufferConstructor
  const index = new KDBush(recipientCount, KD_NODE_SIZE, Int32Array, Memory)
  for (let row = 0; row < recipientCount; row++) index.add(lngs[row], lats[row])
  return index.finish()
}

/** @param ids  the row of each recipient, in kd order */
function fillColumns(
  { recipientCount, contacts, phoneOffsets, phones }: RecipientColumns,
  ids: Uint16Array | Uint32Array,
  image: ArrayBuffer,
  sections: readonly Section[],
): void {
  const start = (name: SectionName) =>
    sections.find((section) => section.name === name)?.byteOffset ?? assert.fail(name)
  const toContacts = new Uint32Array(image, start('contacts'), recipientCount)
  const toOffsets = new Uint32Array(image, start('numberOffsets'), recipientCount + 1)
  const toPhones = new Uint8Array(image, start('numbers'))
  for (let index = 0; index < recipientCount; index++) toContacts[index] = contacts[ids[index]]
  const texts = { bytes: phones, offsets: phoneOffsets }
  copyTexts(texts, ids, { bytes: toPhones, offsets: toOffsets })
  // Clears the bytes that were copied too much.
  toPhones.fill(0, toOffsets[recipientCount])
}

function bounds({ recipientCount, lngs, lats }: RecipientColumns): Box {
  let minLng = lngs[0]
  let minLat = lats[0]
  let maxLng = minLng
  let maxLat = minLat
  for (let row = 1; row < recipientCount; row++) {
    const lng = lngs[row]
    const lat = lats[row]
    if (lng < minLng) minLng = lng
    else if (lng > maxLng) maxLng = lng
    if (lat < minLat) minLat = lat
    else if (lat > maxLat) maxLat = lat
  }
  return { minLng, minLat, maxLng, maxLat }
}
