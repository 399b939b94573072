/**
 * What stands before the image in a shard file. All integers are little-endian.
 *
 *   offset  bytes  meaning
 *        0      8  magic "HICKSHRD"
 *        8      4  format version, 1
 *       12      4  length of the header in bytes, H
 *       16      4  CRC-32 of everything before the image except these four bytes
 *       20      H  the header, MessagePack
 *   20 + H      -  zeros up to the next multiple of 4096, where the image starts
 *
 * The header holds nothing that does not follow from the recipients, so the same import gives the
 * same bytes. It holds the CRC-32 of every section; so its own CRC-32 stands for the whole file.
 *
 * @module
 */
import { crc32 } from 'node:zlib'
import { Packr } from 'msgpackr'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { limits } from '../limits.js'
import { sectionNames } from '../shard/layout.js'

export const PREAMBLE_BYTES = 20

const MAGIC = Buffer.from('HICKSHRD')
const OFFSET = { version: 8, headerBytes: 12, crc32: 16 } as const
const FORMAT_VERSION = 1
const IMAGE_ALIGNMENT_BYTES = 4096

const Count = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })
const Coordinate = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })
const closed = { additionalProperties: false } as const

export const BoxSchema = Type.Object(
  { minLng: Coordinate, minLat: Coordinate, maxLng: Coordinate, maxLat: Coordinate },
  closed,
)

const HeaderSchema = Type.Object(
  {
    sourceId: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    regionIndex: Count,
    recipientCount: Count,
    box: BoxSchema,
    sections: Type.Array(
      Type.Object(
        {
          name: Type.Enum([...sectionNames]),
          byteOffset: Count,
          byteLength: Count,
          crc32: Count,
        },
        closed,
      ),
    ),
    imageBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  },
  closed,
)

export type ShardHeader = Static<typeof HeaderSchema>

/** Thrown for bytes that are not what they should be; says what was found and expected. */
export class FormatFault extends Error {}

const validator = Compile(HeaderSchema)
// Records would make the meaning of the bytes depend on what was packed before.
const packr = new Packr({ useRecords: false })

/** Everything before the image. */
export function encodeHeader(header: ShardHeader): { bytes: Uint8Array; crc32: number } {
  const packed = packr.pack(header)
  if (packed.length > limits.shardHeaderBytes) throw new Error('the shard header is too long')
  const bytes = Buffer.alloc(imageStart(packed.length))
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(FORMAT_VERSION, OFFSET.version)
  bytes.writeUInt32LE(packed.length, OFFSET.headerBytes)
  packed.copy(bytes, PREAMBLE_BYTES)
  const checksum = checksumOf(bytes)
  bytes.writeUInt32LE(checksum, OFFSET.crc32)
  return { bytes, crc32: checksum }
}

/** Checks the first `PREAMBLE_BYTES` of a file and returns where its image starts. */
export function imageStartOf(preamble: Buffer): number {
  if (preamble.length < PREAMBLE_BYTES) {
    throw new FormatFault(`found ${preamble.length} bytes, expected ${PREAMBLE_BYTES} at least`)
  }
  if (!preamble.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new FormatFault(`found another magic, expected ${MAGIC}`)
  }
  const version = preamble.readUInt32LE(OFFSET.version)
  if (version !== FORMAT_VERSION) {
    throw new FormatFault(`found format version ${version}, expected ${FORMAT_VERSION}`)
  }
  const headerBytes = preamble.readUInt32LE(OFFSET.headerBytes)
  if (headerBytes > limits.shardHeaderBytes) {
    const expected = `expected ${limits.shardHeaderBytes} at most`
    throw new FormatFault(`found a header of ${headerBytes} bytes, ${expected}`)
  }
  return imageStart(headerBytes)
}

/** Verifies and unpacks everything before the image. */
export function decodeHeader(bytes: Buffer): { header: ShardHeader; crc32: number } {
  const found = checksumOf(bytes)
  const expected = bytes.readUInt32LE(OFFSET.crc32)
  if (found !== expected) {
    throw new FormatFault(`found a header with CRC-32 ${found}, expected ${expected}`)
  }
  const headerBytes = bytes.readUInt32LE(OFFSET.headerBytes)
  const header: unknown = packr.unpack(bytes.subarray(PREAMBLE_BYTES, PREAMBLE_BYTES + headerBytes))
  if (!validator.Check(header)) {
    const [error] = validator.Errors(header)
    throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
  }
  return { header, crc32: found }
}

function imageStart(headerBytes: number): number {
  const end = PREAMBLE_BYTES + headerBytes
  return Math.ceil(end / IMAGE_ALIGNMENT_BYTES) * IMAGE_ALIGNMENT_BYTES
}

function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes.subarray(OFFSET.crc32 + 4), crc32(bytes.subarray(0, OFFSET.crc32)))
}
