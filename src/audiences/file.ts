/**
 * The file of a frozen audience, see docs/audience-format.md: the head that all binary files have
 * (snapshot/format/container.ts), and an image of runs.
 *
 *   image   for each shard of the header, in this order, its runs: pairs of Uint32, little-endian
 *
 * A run is a range `[start, end)` of recipients of the shard, by index.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { limits } from '../limits.js'
import { recipientCountOf } from '../shard/runs.js'
import { SNAPSHOT_ID } from '../snapshot/directory.js'
import { blockSumsOf, FormatFault, readBlocks } from '../snapshot/format/blocks.js'
import { encodeHead, readHead } from '../snapshot/format/container.js'
import { audienceDigest } from './digest.js'

const VERSION = 1
const MAGIC = 'HICKAUDI'

const closed = { additionalProperties: false } as const
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Sum = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const SourceId = Type.Integer({ minimum: 0, maximum: limits.sourceIdMax })

const SourceSchema = Type.Object(
  { id: SourceId, label: Type.String(), recipientCount: Count },
  closed,
)

const ShardSchema = Type.Object(
  {
    sourceId: SourceId,
    /** The file of the shard in the directory of the snapshot, and what tells it from any other. */
    file: Type.String({ pattern: '^[0-9]+-[0-9]+\\.shard$' }),
    byteLength: Count,
    headerCrc32: Sum,
    sha256: Digest,
    runCount: Count,
    recipientCount: Count,
  },
  closed,
)

const HeaderSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    snapshotId: Type.String({ pattern: SNAPSHOT_ID.source }),
    /** Milliseconds since 1970. */
    createdMs: Count,
    expiresMs: Count,
    /** The key that made it; null where none was asked for. */
    keyName: Type.Union([Type.String(), Type.Null()]),
    /** SHA-256 of the boundary of that key; null where it had none. */
    boundaryDigest: Type.Union([Digest, Type.Null()]),
    /** Nobody is in it who was suppressed by then. */
    suppressionVersion: Count,
    /** Of the change that made this version; null where the log did not have it. */
    suppressionDigest: Type.Union([Digest, Type.Null()]),
    recipientCount: Count,
    digest: Digest,
    /** All that were answered for, by ascending id. */
    sources: Type.Array(SourceSchema, { maxItems: limits.sourceCount }),
    /** Those with anybody in it, in the order of the list. */
    shards: Type.Array(ShardSchema),
    imageBytes: Count,
    blockCrc32s: Type.Array(Sum),
  },
  closed,
)

export type AudienceHeader = Static<typeof HeaderSchema>
export type AudienceShard = Static<typeof ShardSchema>

const validator = Compile(HeaderSchema)

/** What is frozen of a shard. */
export interface FrozenShard extends Omit<AudienceShard, 'runCount' | 'recipientCount'> {
  readonly runs: Uint32Array
}

type Facts = Omit<
  AudienceHeader,
  'shards' | 'digest' | 'recipientCount' | 'imageBytes' | 'blockCrc32s'
>

/** Runs of all shards, as they lie in the image. */
function joinedRuns(shards: readonly FrozenShard[]): Uint32Array {
  const words = new Uint32Array(shards.reduce((sum, { runs }) => sum + runs.length, 0))
  let at = 0
  for (const { runs } of shards) {
    words.set(runs, at)
    at += runs.length
  }
  return words
}

/** @param shards  each with somebody in it */
export function encodeAudience(
  facts: Facts,
  shards: readonly FrozenShard[],
): { header: AudienceHeader; parts: readonly Uint8Array[] } {
  const words = joinedRuns(shards)
  const image = new Uint8Array(words.buffer)
  const described = shards.map(({ runs, ...shard }) => ({
    ...shard,
    runCount: runs.length / 2,
    recipientCount: recipientCountOf(runs),
  }))
  const header: AudienceHeader = {
    ...facts,
    recipientCount: described.reduce((sum, { recipientCount }) => sum + recipientCount, 0),
    digest: audienceDigest(described, words),
    shards: described,
    imageBytes: image.length,
    blockCrc32s: blockSumsOf(image),
  }
  return { header, parts: [encodeHead(MAGIC, header, VERSION).bytes, image] }
}

/**
 * Everything but the runs.
 *
 * @param size  of the file
 * @throws FormatFault
 */
export async function readAudienceHeader(
  file: FileHandle,
  size: number,
): Promise<{ header: AudienceHeader; imageStart: number }> {
  const { header, imageStart } = await readHead(file, size, MAGIC, [VERSION])
  if (!validator.Check(header)) {
    const [error] = validator.Errors(header)
    throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
  }
  if (size - imageStart !== header.imageBytes) {
    const found = `found ${size - imageStart} bytes of runs`
    throw new FormatFault(`${found}, expected ${header.imageBytes}`)
  }
  const words = header.shards.reduce((sum, { runCount }) => sum + 2 * runCount, 0)
  if (4 * words !== header.imageBytes) {
    throw new FormatFault(`found ${header.imageBytes} bytes of runs, expected ${4 * words}`)
  }
  return { header, imageStart }
}

/**
 * The runs of each shard, every byte of them verified, and the digest of all.
 *
 * @throws FormatFault
 */
export async function readAudienceRuns(
  file: FileHandle,
  header: AudienceHeader,
  imageStart: number,
): Promise<Uint32Array[]> {
  const words = new Uint32Array(header.imageBytes / 4)
  await readBlocks(file, new Uint8Array(words.buffer), imageStart, header.blockCrc32s)
  const found = audienceDigest(header.shards, words)
  if (found !== header.digest) {
    throw new FormatFault(`found the digest ${found}, expected ${header.digest}`)
  }
  let at = 0
  return header.shards.map(({ runCount, recipientCount }, shard) => {
    const runs = words.subarray(at, at + 2 * runCount)
    at += 2 * runCount
    const fault = faultOfRuns(runs, recipientCount)
    if (fault !== undefined) throw new FormatFault(`found ${fault} of shard ${shard}`)
    return runs
  })
}

function faultOfRuns(runs: Uint32Array, recipientCount: number): string | undefined {
  for (let i = 0; i < runs.length; i++) {
    // Of two runs that touch one would have been made.
    if (i > 0 && runs[i] <= runs[i - 1]) return 'runs out of order'
  }
  const found = recipientCountOf(runs)
  return found === recipientCount ? undefined : `${found} recipients in runs`
}
