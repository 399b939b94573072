/**
 * The file of a snapshot that says which phones repeat, so that a start does not have to find out: a
 * head (see ../format/container.ts) and an image (see image.ts).
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import Type, { type Static } from '#typebox'
import { createFile } from '../../durable-files.js'
import type { Room } from '../../shard/arena.js'
import type { Repeats } from '../../shard/duplicates/find-repeats.js'
import { validatorOf } from '../../validator.js'
import { blockSumsOf, FormatFault, type OnRead } from '../format/blocks.js'
import { encodeHead, FORMAT_VERSION, readHead } from '../format/container.js'
import { type ManifestFile, REPEATS_FILE } from '../format/manifest.js'
import { withFile } from '../open-file.js'
import { imageOf, type RepeatsHead, readRepeatsImage } from './image.js'

/** Writes a file that must not be there yet; it is on disk when this returns. */
export async function writeRepeatsFile(path: string, repeats: Repeats): Promise<ManifestFile> {
  const { phoneCount, shards } = repeats
  const image = imageOf(shards)
  const head = encodeHead('HICKREPT', {
    numberCount: phoneCount,
    recipientCounts: shards.map(({ recipients }) => recipients.length),
    imageBytes: image.length,
    blockCrc32s: blockSumsOf(image),
  } satisfies RepeatsHeader)
  const hash = createHash('sha256')
  await createFile(path, [head.bytes, image], (piece) => hash.update(piece))
  return {
    file: REPEATS_FILE,
    byteLength: head.bytes.length + image.length,
    sha256: hash.digest('hex'),
    headerCrc32: head.crc32,
    numberCount: phoneCount,
    recipientCount: shards.reduce((sum, { recipients }) => sum + recipients.length, 0),
  }
}

/**
 * Reads a file into its room and verifies every byte of it, and what it means.
 *
 * @param shardCounts  recipients of each shard of the snapshot
 * @param room  as large as the file at least
 * @throws OperatorError `SnapshotCorrupt`
 */
export function readRepeatsFile(
  path: string,
  entry: ManifestFile,
  shardCounts: readonly number[],
  room: Pick<Room, 'bytes'>,
  onRead?: OnRead,
): Promise<Repeats> {
  return withFile(path, entry.byteLength, async (file) => {
    const head = await readHeadOf(file, entry)
    return await readRepeatsImage(file, head, shardCounts, room, onRead)
  })
}

/**
 * Reads and verifies what a file says of itself, and that it is the one that the manifest means.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export function readRepeatsHead(path: string, entry: ManifestFile): Promise<RepeatsHead> {
  return withFile(path, entry.byteLength, (file) => readHeadOf(file, entry))
}

const Count = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })
const HeaderSchema = Type.Object(
  {
    numberCount: Count,
    recipientCounts: Type.Array(Count),
    imageBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    blockCrc32s: Type.Array(Count),
  },
  { additionalProperties: false },
)
type RepeatsHeader = Static<typeof HeaderSchema>
const validator = validatorOf(HeaderSchema)

async function readHeadOf(
  file: FileHandle,
  { byteLength, headerCrc32, numberCount, recipientCount }: ManifestFile,
): Promise<RepeatsHead> {
  const head = await readHead(file, byteLength, 'HICKREPT', [FORMAT_VERSION])
  if (head.crc32 !== headerCrc32) {
    throw new FormatFault(
      `found the file with header CRC-32 ${head.crc32}, expected ${headerCrc32}`,
    )
  }
  const { header, imageStart } = head
  if (!validator.Check(header)) {
    const [error] = validator.Errors(header)
    throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
  }
  const sum = header.recipientCounts.reduce((all, count) => all + count, 0)
  if (header.numberCount !== numberCount || sum !== recipientCount) {
    throw new FormatFault(
      `found ${header.numberCount} numbers of ${sum} recipients, ` +
        `expected ${numberCount} of ${recipientCount}`,
    )
  }
  const imageBytes = byteLength - imageStart
  if (header.imageBytes !== imageBytes || imageBytes !== 8 * sum) {
    throw new FormatFault(`found an image of ${imageBytes} bytes, expected ${8 * sum}`)
  }
  return { ...header, imageStart, headerCrc32 }
}
