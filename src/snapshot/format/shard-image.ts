/**
 * The image of a shard file, into memory: what a thread does that loads one. The head of the file was
 * read before, so that no thread has to load what checks it.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { FileHandle } from 'node:fs/promises'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import type { Room } from '../../shard/arena.js'
import type { Section, ShardImage } from '../../shard/layout.js'
import { type Marks, marksBytes } from '../../shard/suppressed.js'
import { type RankedSet, rankedSetLength } from '../../shard/ties/ranked-set.js'
import { NO_TIES } from '../../shard/ties/ties.js'
import { FormatFault, type OnRead, readAll, readBlocks } from './blocks.js'
import { findImageFault } from './image-faults.js'
import type { ShardHeader } from './shard-header.js'

assert.equal(endianness(), 'LE', 'images are little-endian and used as they are')

const ALIGNMENT_BYTES = 64

interface ImageRoom extends Pick<Room, 'bytes'> {
  readonly arena: Room['arena'] | null
}

/** The contents of the head of a shard file; its sections are where they belong. */
export interface ShardHead {
  readonly version: number
  readonly header: ShardHeader
  readonly imageStart: number
  readonly headerCrc32: number
}

/**
 * Reads the image of a file into its room in an arena and verifies every byte of it.
 *
 * @param contactCount  contacts of the source
 * @param room  of `roomBytesOf` the file at least; in no arena where nothing is selected from it
 * @throws FormatFault
 */
export async function readShardImage(
  file: FileHandle,
  { header, imageStart }: ShardHead,
  contactCount: number,
  room: ImageRoom,
  onRead?: OnRead,
): Promise<ShardImage> {
  const { sourceId, regionIndex, recipientCount, box, sections, sums, imageBytes } = header
  if (roomBytesOf(imageBytes, recipientCount) > room.bytes.length) {
    throw new FormatFault(`found ${recipientCount} recipients, which are too many`)
  }
  onRead?.(imageStart)
  const image = room.bytes.subarray(0, imageBytes)
  if (sums.of === 'blocks') await readBlocks(file, image, imageStart, sums.crc32s, onRead)
  else {
    await readAll(file, image, imageStart, onRead)
    verifySections(sections, sums.crc32s, image)
  }
  verifyGaps(sections, image)

  const { arena } = room
  const marks = marksIn(room, imageBytes, recipientCount)
  // An arena that was used before holds what was there.
  marks.fill(0)
  const shard = {
    sourceId,
    regionIndex,
    recipientCount,
    contactCount,
    box,
    sections,
    image,
    arena,
    marks,
    contactTies: null,
    phoneTies: NO_TIES,
  }
  const fault = findImageFault(shard)
  if (fault !== undefined) throw new FormatFault(fault)
  return shard
}

/** The room that a file takes in memory: with the marks of its recipients, and the sets of those tied. */
export function roomBytesOf(byteLength: number, recipientCount: number): number {
  const setBytes = aligned(4 * rankedSetLength(recipientCount))
  return aligned(byteLength) + aligned(marksBytes(recipientCount)) + 2 * setBytes
}

/** Where the marks lie, behind an image in its room. */
export function marksIn(
  { bytes }: Pick<Room, 'bytes'>,
  imageBytes: number,
  recipientCount: number,
): Marks {
  const start = bytes.byteOffset + aligned(imageBytes)
  return new Int32Array(bytes.buffer, start, marksBytes(recipientCount) / 4)
}

/** Where the sets of tied recipients lie, behind the marks; they hold anything until they are filled. */
export function tiedSetsIn(
  { bytes }: Pick<Room, 'bytes'>,
  imageBytes: number,
  recipientCount: number,
): { readonly byContact: RankedSet; readonly byPhone: RankedSet } {
  const start = bytes.byteOffset + aligned(imageBytes) + aligned(marksBytes(recipientCount))
  const length = rankedSetLength(recipientCount)
  return {
    byContact: new Uint32Array(bytes.buffer, start, length),
    byPhone: new Uint32Array(bytes.buffer, start + aligned(4 * length), length),
  }
}

function aligned(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

/** As version 1 has it. */
function verifySections(
  sections: readonly Section[],
  sums: readonly number[],
  image: Uint8Array,
): void {
  for (const [at, { name, byteOffset, byteLength }] of sections.entries()) {
    const found = crc32(image.subarray(byteOffset, byteOffset + byteLength))
    if (found === sums[at]) continue
    throw new FormatFault(`found section ${name} with CRC-32 ${found}, expected ${sums[at]}`)
  }
}

/** Only zeros between the sections and behind them: the same recipients give the same bytes. */
function verifyGaps(sections: readonly Section[], image: Uint8Array): void {
  let end = 0
  for (const { byteOffset, byteLength } of sections) {
    verifyZeros(image, end, byteOffset)
    end = byteOffset + byteLength
  }
  verifyZeros(image, end, image.length)
}

function verifyZeros(image: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    if (image[at] !== 0) throw new FormatFault(`found a byte at ${at} of the image, expected zero`)
  }
}
