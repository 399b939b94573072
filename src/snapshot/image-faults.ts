/**
 * Whether a shard means what it says. Checksums find bytes that changed; these checks find what
 * was written wrongly, before anything that relies on it reads or answers wrongly.
 *
 * @module
 */
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import { limits } from '../limits.js'
import { attachShard, placeSections, type ShardImage } from '../shard/layout.js'
import type { ShardHeader } from './shard-header.js'

/** How kdbush 4 begins its data: magic, version 1 and type Int32, node size, count. */
const KD = { magic: 0xdb, versionAndType: 0x15, nodeSizeMin: 2, headerBytes: 8 } as const
/** From this count on its ids are 32-bit. */
const KD_WIDE_ID_COUNT = 65_536

/** What is wrong with where the sections lie, or undefined. */
export function findSectionFault(header: ShardHeader): string | undefined {
  const { recipientCount, sections } = header
  if (recipientCount === 0) return 'found no recipients, expected one at least'
  const numbers = sections.find(({ name }) => name === 'numbers')
  const expected = placeSections({
    index: indexBytes(recipientCount),
    contacts: 4 * recipientCount,
    numberOffsets: 4 * (recipientCount + 1),
    numbers: numbers?.byteLength ?? 0,
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

/** What is wrong with the content of an image whose sections are where they belong, or undefined. */
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

function findIdFault({ image, recipientCount }: ShardImage): string | undefined {
  const start = image.byteOffset + KD.headerBytes
  const ids =
    recipientCount < KD_WIDE_ID_COUNT
      ? new Uint16Array(image.buffer, start, recipientCount)
      : new Uint32Array(image.buffer, start, recipientCount)
  const isSeen = new Uint8Array(recipientCount)
  for (const id of ids) {
    if (id >= recipientCount) return `found id ${id}, expected less than ${recipientCount}`
    if (isSeen[id] === 1) return `found id ${id} twice`
    isSeen[id] = 1
  }
  return undefined
}

function findCoordinateFault(shard: ShardImage): string | undefined {
  const { minLng, minLat, maxLng, maxLat } = shard.box
  const lngMax = 180 * UNITS_PER_DEGREE
  const latMax = 90 * UNITS_PER_DEGREE
  if (minLng < -lngMax || maxLng > lngMax || minLat < -latMax || maxLat > latMax) {
    return 'found bounds beyond the globe'
  }
  const { coords } = attachShard(shard)
  for (let at = 0; at < coords.length; at += 2) {
    const lng = coords[at]
    const lat = coords[at + 1]
    if (lng < minLng || lng > maxLng || lat < minLat || lat > maxLat) {
      return `found recipient ${at / 2} outside the bounds of its shard`
    }
  }
  return undefined
}

function findColumnFault(shard: ShardImage): string | undefined {
  const { contacts, contactCount, numberOffsets, numbers } = attachShard(shard)
  for (const contact of contacts) {
    if (contact >= contactCount)
      return `found contact ${contact}, expected less than ${contactCount}`
  }
  if (numberOffsets[0] !== 0) return 'found a first number that does not start at 0'
  for (let index = 0; index < shard.recipientCount; index++) {
    if (numberOffsets[index + 1] <= numberOffsets[index]) return `found number ${index} empty`
    const numberBytes = numberOffsets[index + 1] - numberOffsets[index]
    if (numberBytes > limits.numberBytes) return `found number ${index} of ${numberBytes} bytes`
  }
  const end = numberOffsets[shard.recipientCount]
  if (end !== numbers.length) return `found numbers that end at ${end}, expected ${numbers.length}`
  return undefined
}
