/**
 * Builds the image of a shard: the index, and every column in the order of the index.
 *
 * @module
 */
import assert from 'node:assert/strict'
import KDBush from 'kdbush'
import type { RecipientColumns } from './columns.js'
import {
  type Box,
  placeSections,
  type Section,
  type SectionName,
  type ShardImage,
} from './layout.js'
import { NO_REPEATS } from './repeats.js'

/** A range of the index of this many recipients and one is not split any further. */
export const KD_NODE_SIZE = 64

/**
 * @param rows  the recipients of the shard, as indexes into `columns`, ascending and not empty
 */
export function buildShard(
  columns: RecipientColumns,
  rows: Uint32Array,
  sourceId: number,
  regionIndex: number,
): ShardImage {
  assert(rows.length > 0, 'a shard has a recipient')
  const index = buildIndex(columns, rows)
  const { sections, imageBytes } = placeSections({
    index: index.data.byteLength,
    contacts: 4 * rows.length,
    numberOffsets: 4 * (rows.length + 1),
    numbers: numberBytes(columns, rows),
  })
  const image = new Uint8Array(imageBytes)
  image.set(new Uint8Array(index.data))
  fillColumns(columns, rows, index.ids, image.buffer, sections)
  return {
    sourceId,
    regionIndex,
    recipientCount: rows.length,
    contactCount: columns.contactCount,
    box: bounds(columns, rows),
    sections,
    image,
    arena: null,
    marks: null,
    repeats: NO_REPEATS,
  }
}

function buildIndex(columns: RecipientColumns, rows: Uint32Array): KDBush {
  const index = new KDBush(rows.length, KD_NODE_SIZE, Int32Array)
  const { lngs, lats } = columns
  for (const row of rows) index.add(lngs[row], lats[row])
  return index.finish()
}

function numberBytes(columns: RecipientColumns, rows: Uint32Array): number {
  const { numberOffsets } = columns
  let count = 0
  for (const row of rows) count += numberOffsets[row + 1] - numberOffsets[row]
  assert(count < 2 ** 32, 'offsets of numbers are 32-bit')
  return count
}

/** @param ids  the rank in `rows` of each recipient, in kd order */
function fillColumns(
  columns: RecipientColumns,
  rows: Uint32Array,
  ids: Uint16Array | Uint32Array,
  image: ArrayBuffer,
  sections: readonly Section[],
): void {
  const start = (name: SectionName) =>
    sections.find((section) => section.name === name)?.byteOffset ?? assert.fail(name)
  const contacts = new Uint32Array(image, start('contacts'), rows.length)
  const offsets = new Uint32Array(image, start('numberOffsets'), rows.length + 1)
  const numbers = new Uint8Array(image, start('numbers'))
  const { numberOffsets: fromOffsets, numbers: fromNumbers, contacts: fromContacts } = columns
  let put = 0
  for (let index = 0; index < rows.length; index++) {
    const row = rows[ids[index]]
    contacts[index] = fromContacts[row]
    const end = fromOffsets[row + 1]
    for (let at = fromOffsets[row]; at < end; at++) numbers[put++] = fromNumbers[at]
    offsets[index + 1] = put
  }
}

function bounds(columns: RecipientColumns, rows: Uint32Array): Box {
  const { lngs, lats } = columns
  let minLng = lngs[rows[0]]
  let minLat = lats[rows[0]]
  let maxLng = minLng
  let maxLat = minLat
  for (const row of rows) {
    minLng = Math.min(minLng, lngs[row])
    maxLng = Math.max(maxLng, lngs[row])
    minLat = Math.min(minLat, lats[row])
    maxLat = Math.max(maxLat, lats[row])
  }
  return { minLng, minLat, maxLng, maxLat }
}
