/**
 * The beginning of every binary file of a snapshot, and of a frozen audience. All integers are little-endian.
 *
 *   offset  bytes  meaning
 *        0      8  magic: `HICKSHRD` for a shard, `HICKREPT` for the repeats, `HICKIDEN` for identities,
 *                  `HICKAUDI` for an audience
 *        8      4  format version
 *       12      4  length of the header in bytes, H
 *       16      4  CRC-32 of everything before the image except these four bytes
 *       20      H  the header, MessagePack
 *   20 + H      -  zeros up to the next multiple of 4096, where the image starts
 *
 * The header has the checksums of the image; so the CRC-32 of the header stands for the whole file.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { Packr } from 'msgpackr'
import { limits } from '../../limits.js'
import { FormatFault, readAll } from './blocks.js'

/** The version of the files of snapshots that are written. */
export const FORMAT_VERSION = 2

type Magic = 'HICKSHRD' | 'HICKREPT' | 'HICKIDEN' | 'HICKAUDI'

/** Everything before the image of a file. */
export interface Head {
  readonly version: number
  /** Not checked yet. */
  readonly header: unknown
  readonly crc32: number
  readonly imageStart: number
}

// Records would make the meaning of the bytes depend on what was packed before.
const packr = new Packr({ useRecords: false })

/** Everything before the image. */
export function encodeHead(
  magic: Magic,
  header: object,
  version: number = FORMAT_VERSION,
): { bytes: Uint8Array; crc32: number } {
  const packed = packr.pack(header)
  if (packed.length > limits.shardHeaderBytes) throw new Error('the header is too long')
  const bytes = Buffer.alloc(imageStartOf(packed.length))
  bytes.write(magic, 'latin1')
  bytes.writeUInt32LE(version, OFFSET.version)
  bytes.writeUInt32LE(packed.length, OFFSET.headerBytes)
  packed.copy(bytes, PREAMBLE_BYTES)
  const checksum = checksumOf(bytes)
  bytes.writeUInt32LE(checksum, OFFSET.crc32)
  return { bytes, crc32: checksum }
}

/**
 * Reads and verifies everything before the image of a file.
 *
 * @param size  of the file
 * @param versions  that the caller can read
 * @throws FormatFault
 */
export async function readHead(
  file: FileHandle,
  size: number,
  magic: Magic,
  versions: readonly number[],
): Promise<Head> {
  const preamble = Buffer.alloc(Math.min(PREAMBLE_BYTES, size))
  await readAll(file, preamble, 0)
  const { version, headerBytes } = decodePreamble(preamble, magic, versions)
  const imageStart = imageStartOf(headerBytes)
  if (imageStart > size) {
    throw new FormatFault(`found ${size} bytes, expected ${imageStart} or more`)
  }
  const bytes = Buffer.alloc(imageStart)
  await readAll(file, bytes, 0)
  // Read twice, as the length of the rest had to be known: what is verified is what is used.
  decodePreamble(bytes, magic, versions)
  const found = checksumOf(bytes)
  const expected = bytes.readUInt32LE(OFFSET.crc32)
  if (found !== expected) {
    throw new FormatFault(`found a header with CRC-32 ${found}, expected ${expected}`)
  }
  const header = unpack(bytes.subarray(PREAMBLE_BYTES, PREAMBLE_BYTES + headerBytes))
  return { version, header, crc32: found, imageStart }
}

const PREAMBLE_BYTES = 20
const MAGIC_BYTES = 8
const OFFSET = { version: 8, headerBytes: 12, crc32: 16 } as const
const IMAGE_ALIGNMENT_BYTES = 4096

function decodePreamble(preamble: Buffer, magic: Magic, versions: readonly number[]) {
  if (preamble.length < PREAMBLE_BYTES) {
    throw new FormatFault(`found ${preamble.length} bytes, expected ${PREAMBLE_BYTES} at least`)
  }
  if (preamble.toString('latin1', 0, MAGIC_BYTES) !== magic) {
    throw new FormatFault(`found another magic, expected ${magic}`)
  }
  const version = preamble.readUInt32LE(OFFSET.version)
  if (!versions.includes(version)) {
    throw new FormatFault(`found format version ${version}, expected ${versions.join(' or ')}`)
  }
  const headerBytes = preamble.readUInt32LE(OFFSET.headerBytes)
  if (headerBytes > limits.shardHeaderBytes) {
    const expected = `expected ${limits.shardHeaderBytes} at most`
    throw new FormatFault(`found a header of ${headerBytes} bytes, ${expected}`)
  }
  return { version, headerBytes }
}

function unpack(packed: Buffer): unknown {
  try {
    return packr.unpack(packed)
  } catch (error) {
    throw new FormatFault(`found a header that is not MessagePack: ${(error as Error).message}`)
  }
}

function imageStartOf(headerBytes: number): number {
  const end = PREAMBLE_BYTES + headerBytes
  return Math.ceil(end / IMAGE_ALIGNMENT_BYTES) * IMAGE_ALIGNMENT_BYTES
}

function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes.subarray(OFFSET.crc32 + 4), crc32(bytes.subarray(0, OFFSET.crc32)))
}
