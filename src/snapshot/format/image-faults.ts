/**
 * Whether a shard means what it says. Checksums find bytes that changed; these checks find what
 * was written wrongly, before anything that relies on it reads or answers wrongly.
 *
 * @module
 */
import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import { attachShard, placeSections, type ShardImage } from '../../shard/layout.js'
import type { ShardHeader } from './shard-header.js'

/** How kdbush 4 begins its data: magic, version 1 and type Int32, node size, count. */
const KD = { magic: 0xdb, versionAndType: 0x15, nodeSizeMin: 2, headerBytes: 8 } as const
/** From this count on its ids are 32-bit. */
const KD_WIDE_ID_COUNT = 65_536

/** The fault in the places of the sections, or undefined. */
export function findSectionFault(header: Omit<ShardHeader, 'sums'>): string | undefined {
  const { recipientCount, sections } = header
  if (recipientCount === 0) return 'found no recipients, expected one at least'
  const phones = sections.find(({ name }) => name === 'numbers')
  const expected = placeSections({
    index: indexBytes(recipientCount),
    contacts: 4 * recipientCount,
    numberOffsets: 4 * (recipientCount + 1),
    numbers: phones?.byteLength ?? 0,
  })
  if (header.imageBytes !== expected.imageBytes) {
    return `found an image of ${header.imageBytes} bytes, expected ${expected.imageBytes}`
  }
  for (const [index, place] of expected.sections.entries()) {
    const found = sections[index]
    const isAsExpected =
      found?.name === place.name &&
      found.byteOffset === place.byteOffset &&
      found.byteLength === place.byteLength
    if (!isAsExpected) {
      const at = `[${place.byteOffset}, ${place.byteOffset + place.byteLength})`
      return `found section ${index} elsewhere, expected ${place.name} at ${at}`
    }
  }
  if (sections.length !== expected.sections.length) return 'found more sections than expected'
  return undefined
}

/** The fault in the content of an image whose sections are where they belong, or undefined. */
export function findImageFault(shard: ShardImage): string | undefined {
  return (
    findIndexFault(shard) ??
    findIdFault(shard) ??
    findCoordinateFault(shard) ??
    findColumnFault(shard)
  )
}

function indexBytes(recipientCount: number): number {
  const idBytes = recipientCount * (recipientCount < KD_WIDE_ID_COUNT ? 2 : 4)
  return KD.headerBytes + Math.ceil(idBytes / 8) * 8 + 8 * recipientCount
}

function findIndexFault({ image, recipientCount }: ShardImage): string | undefined {
  const [magic, versionAndType] = image
  if (magic !== KD.magic || versionAndType !== KD.versionAndType) {
    return 'found an index that is not a KDBush of Int32 coordinates'
  }
  const [nodeSize] = new Uint16Array(image.buffer, image.byteOffset + 2, 1)
  if (nodeSize < KD.nodeSizeMin) return `found an index with nodes of ${nodeSize}`
  const [count] = new Uint32Array(image.buffer, image.byteOffset + 4, 1)
  if (count !== recipientCount) return `found ${count} in the index, expected ${recipientCount}`
  return undefined
}

// Loops over all recipients are functions of their own that return where the first fault is: with the
// message made in the loop, V8 keeps each value ready for that, and takes ten times as long.

function findIdFault(shard: ShardImage): string | undefined {
  const { recipientCount } = shard
  const { ids } = attachShard(shard)
  const at = indexOfNoPermutation(ids, recipientCount)
  if (at === NONE) return undefined
  if (ids[at] < recipientCount) return `found id ${ids[at]} twice`
  return `found id ${ids[at]}, expected less than ${recipientCount}`
}

function findCoordinateFault(shard: ShardImage): string | undefined {
  const { minLng, minLat, maxLng, maxLat } = shard.box
  const lngMax = 180 * UNITS_PER_DEGREE
  const latMax = 90 * UNITS_PER_DEGREE
  if (minLng < -lngMax || maxLng > lngMax || minLat < -latMax || maxLat > latMax) {
    return 'found bounds beyond the globe'
  }
  if (minLng > maxLng || minLat > maxLat) return 'found bounds that end before they start'
  const recipient = indexOutside(attachShard(shard).coords, minLng, minLat, maxLng, maxLat)
  return recipient === NONE
    ? undefined
    : `found recipient ${recipient} outside the bounds of its shard`
}

function findColumnFault(shard: ShardImage): string | undefined {
  const { contacts, contactCount, phoneOffsets, phones } = attachShard(shard)
  const contactAt = indexNotBelow(contacts, contactCount)
  if (contactAt !== NONE) {
    return `found contact ${contacts[contactAt]}, expected less than ${contactCount}`
  }
  return findOffsetFault(phoneOffsets, phones.length)
}

/** Phones lie end to end, each of one byte at least and of no more than rows have room for. */
function findOffsetFault(offsets: Uint32Array, phonesBytes: number): string | undefined {
  if (offsets[0] !== 0) return 'found a first number that does not start at 0'
  const at = indexOfStep(offsets, limits.phoneBytes)
  if (at !== NONE) {
    const phoneBytes = offsets[at + 1] - offsets[at]
    if (phoneBytes <= 0) return `found number ${at} empty`
    return `found number ${at} of ${phoneBytes} bytes`
  }
  const end = offsets[offsets.length - 1]
  if (end !== phonesBytes) return `found numbers that end at ${end}, expected ${phonesBytes}`
  return undefined
}

const NONE = -1

/** The first id that is not below the count of ids, or that was there before. */
function indexOfNoPermutation(ids: Uint16Array | Uint32Array, count: number): number {
  // A bit each, so that those of a whole shard stay in the cache, where ids point to in no order.
  const seen = new Int32Array(Math.ceil(count / 32))
  for (let at = 0; at < count; at++) {
    const id = ids[at]
    if (id >= count) return at
    const word = id >>> 5
    const bit = 1 << (id & 31)
    if ((seen[word] & bit) !== 0) return at
    seen[word] |= bit
  }
  return NONE
}

function indexOutside(
  coords: Int32Array,
  minLng: number,
  minLat: number,
  maxLng: number,
  maxLat: number,
): number {
  // Unsigned, so that one comparison finds what is less than the minimum, too.
  const lngSpan = (maxLng - minLng) >>> 0
  const latSpan = (maxLat - minLat) >>> 0
  for (let at = 0; at < coords.length; at += 2) {
    const lng = (coords[at] - minLng) >>> 0
    const lat = (coords[at + 1] - minLat) >>> 0
    if (lng > lngSpan || lat > latSpan) return at / 2
  }
  return NONE
}

function indexNotBelow(values: Uint32Array, end: number): number {
  for (let at = 0; at < values.length; at++) if (values[at] >= end) return at
  return NONE
}

/** The first value that the next one is not above, or is further above than it may be. */
function indexOfStep(values: Uint32Array, stepMax: number): number {
  let last = values[0]
  for (let at = 1; at < values.length; at++) {
    const value = values[at]
    // Unsigned, so that one comparison finds a value that is less than the one before, too.
    if ((value - last - 1) >>> 0 >= stepMax) return at - 1
    last = value
  }
  return NONE
}
