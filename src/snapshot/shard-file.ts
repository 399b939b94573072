/**
 * A shard as a file: a header (see shard-header.ts) and the image of the shard, byte for byte.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { endianness } from 'node:os'
import { crc32 } from 'node:zlib'
import { OperatorError } from '../errors.js'
import type { Room } from '../shard/arena.js'
import type { Section, ShardImage } from '../shard/layout.js'
import { NO_REPEATS } from '../shard/repeats.js'
import { type Marks, marksBytes } from '../shard/suppressed.js'
import { createFile } from './directory.js'
import { findImageFault, findSectionFault } from './image-faults.js'
import {
  decodeHeader,
  encodeHeader,
  FormatFault,
  imageStartOf,
  PREAMBLE_BYTES,
  type ShardHeader,
} from './shard-header.js'

assert.equal(endianness(), 'LE', 'images are little-endian and used as they are')

const READ_BYTES = 8 << 20
const MARKS_ALIGNMENT_BYTES = 64

export interface ShardFileDigest {
  readonly byteLength: number
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string
  readonly headerCrc32: number
}

/** Writes a file that must not be there yet; it is on disk when this returns. */
export async function writeShardFile(path: string, shard: ShardImage): Promise<ShardFileDigest> {
  const { image } = shard
  const sections = shard.sections.map((section) => ({
    ...section,
    crc32: crc32(sectionBytes(image, section)),
  }))
  const { sourceId, regionIndex, recipientCount, box } = shard
  const imageBytes = image.length
  const header = encodeHeader({ sourceId, regionIndex, recipientCount, box, sections, imageBytes })
  const hash = createHash('sha256')
  await createFile(path, [header.bytes, image], (piece) => hash.update(piece))
  return {
    byteLength: header.bytes.length + imageBytes,
    sha256: hash.digest('hex'),
    headerCrc32: header.crc32,
  }
}

/**
 * Reads a file into its room in an arena and verifies every byte of it.
 *
 * @param byteLength  what the manifest says
 * @param contactCount  contacts of the source
 * @param room  of `roomBytesOf` the file at least
 * @param onRead  called with the bytes of each piece read
 */
export async function readShardFile(
  path: string,
  byteLength: number,
  contactCount: number,
  room: Room,
  onRead?: (pieceBytes: number) => void,
): Promise<{ shard: ShardImage; headerCrc32: number }> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const { size } = await file.stat()
    if (size !== byteLength) throw new FormatFault(`found ${size} bytes, expected ${byteLength}`)
    return await readShard(file, size, contactCount, room, onRead)
  } catch (error) {
    throw new OperatorError('SnapshotCorrupt', `${path}: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await file?.close()
  }
}

async function readShard(
  file: FileHandle,
  size: number,
  contactCount: number,
  room: Room,
  onRead?: (pieceBytes: number) => void,
): Promise<{ shard: ShardImage; headerCrc32: number }> {
  const preamble = Buffer.alloc(Math.min(PREAMBLE_BYTES, size))
  await readAll(file, preamble, 0)
  const imageStart = imageStartOf(preamble)
  if (imageStart > size)
    throw new FormatFault(`found ${size} bytes, expected ${imageStart} or more`)
  const head = Buffer.alloc(imageStart)
  await readAll(file, head, 0, onRead)
  const { header, crc32: headerCrc32 } = decodeHeader(head)
  const fault = findSectionFault(header)
  if (fault !== undefined) throw new FormatFault(fault)
  if (header.imageBytes !== size - imageStart) {
    throw new FormatFault(
      `found an image of ${size - imageStart} bytes, expected ${header.imageBytes}`,
    )
  }
  const image = room.bytes.subarray(0, header.imageBytes)
  await readAll(file, image, imageStart, onRead)
  verifySections(header, image)

  const { sourceId, regionIndex, recipientCount, box } = header
  const sections = header.sections.map(({ name, byteOffset, byteLength }) => ({
    name,
    byteOffset,
    byteLength,
  }))
  const { arena } = room
  const marks = marksIn(room, header.imageBytes, recipientCount)
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
    repeats: NO_REPEATS,
  }
  const imageFault = findImageFault(shard)
  if (imageFault !== undefined) throw new FormatFault(imageFault)
  return { shard, headerCrc32 }
}

/** The room that a file takes in memory: with the marks of its recipients. */
export function roomBytesOf(byteLength: number, recipientCount: number): number {
  return byteLength + MARKS_ALIGNMENT_BYTES + marksBytes(recipientCount)
}

/** Where the marks lie, behind an image in its room. */
export function marksIn({ bytes }: Room, imageBytes: number, recipientCount: number): Marks {
  const start = Math.ceil(imageBytes / MARKS_ALIGNMENT_BYTES) * MARKS_ALIGNMENT_BYTES
  const length = marksBytes(recipientCount) / 4
  return new Int32Array(bytes.buffer, bytes.byteOffset + start, length)
}

/** Fills `into` from the bytes of the file that start at `position`. */
async function readAll(
  file: FileHandle,
  into: Uint8Array,
  position: number,
  onRead?: (pieceBytes: number) => void,
): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const length = Math.min(READ_BYTES, into.length - at)
    const { bytesRead } = await file.read(into, at, length, position + at)
    if (bytesRead === 0) throw new FormatFault(`found the end of the file at ${position + at}`)
    at += bytesRead
    onRead?.(bytesRead)
  }
}

/** Checks the sum of each section, and that there are only zeros between them. */
function verifySections(header: ShardHeader, image: Uint8Array): void {
  let end = 0
  for (const section of header.sections) {
    verifyZeros(image, end, section.byteOffset)
    const found = crc32(sectionBytes(image, section))
    if (found !== section.crc32) {
      const { name } = section
      throw new FormatFault(`found section ${name} with CRC-32 ${found}, expected ${section.crc32}`)
    }
    end = section.byteOffset + section.byteLength
  }
  verifyZeros(image, end, image.length)
}

function verifyZeros(image: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    if (image[at] !== 0) throw new FormatFault(`found a byte at ${at} of the image, expected zero`)
  }
}

function sectionBytes(image: Uint8Array, section: Section): Uint8Array {
  return image.subarray(section.byteOffset, section.byteOffset + section.byteLength)
}
