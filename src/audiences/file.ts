/**
 * The file of a frozen audience, see docs/audience-format.md: the head that all binary files have
 * (snapshot/format/container.ts), an image of runs, and one of rows.
 *
 *   runs   for each shard of the header, in this order, its runs: pairs of Uint32, little-endian
 *   rows   for each delta of the header, in this order, the columns of those who came since the snapshot
 *          (frozen-delta.ts)
 *
 * A run is a range `[start, end)` of recipients of the shard, by index.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import Type, { type Static } from '#typebox'
import { limits } from '../limits.js'
import { recipientCountOf } from '../shard/runs.js'
import { SNAPSHOT_ID } from '../snapshot/directory.js'
import { blockSumsOf, FormatFault, readBlocks } from '../snapshot/format/blocks.js'
import { encodeHead, readHead } from '../snapshot/format/container.js'
import { validatorOf } from '../validator.js'
import { AudienceDigest } from './digest.js'
import { type FrozenDelta, rowBytesOf } from './frozen-delta.js'
import { RowsImage } from './rows-image.js'

/** Version 1 had neither deltas nor a sequence. No release wrote it. */
const VERSION = 2
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

const DeltaSchema = Type.Object(
  {
    sourceId: SourceId,
    recipientCount: Type.Integer({ minimum: 1, maximum: limits.audienceDeltaCount }),
    phoneBytes: Count,
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
    /** Of the runs. */
    imageBytes: Count,
    blockCrc32s: Type.Array(Sum),
    /** Up to which batch of the journal changes are in it. */
    sequence: Count,
    /** Those with anybody in it, by ascending id of the source. */
    deltas: Type.Array(DeltaSchema, { maxItems: limits.sourceCount }),
    rowBytes: Count,
    rowBlockCrc32s: Type.Array(Sum),
  },
  closed,
)

export type AudienceHeader = Static<typeof HeaderSchema>
export type AudienceShard = Static<typeof ShardSchema>
type AudienceDelta = Static<typeof DeltaSchema>

const validator = validatorOf(HeaderSchema)

/** What is frozen of a shard. */
export interface FrozenShard extends Omit<AudienceShard, 'runCount' | 'recipientCount'> {
  readonly runs: Uint32Array
}

type Facts = Omit<
  AudienceHeader,
  | 'shards'
  | 'digest'
  | 'recipientCount'
  | 'imageBytes'
  | 'blockCrc32s'
  | 'deltas'
  | 'rowBytes'
  | 'rowBlockCrc32s'
>

/** Something of the header, and where it is in its image, in bytes. */
interface Placed<Kind extends string, Item> {
  readonly kind: Kind
  readonly item: Item
  readonly start: number
  readonly end: number
}

type ListPart = Placed<'shard', AudienceShard> | Placed<'delta', AudienceDelta>

/** All that holds people, in the order of the list: behind the shards of a source comes its delta. */
export function* listOrder({
  shards,
  deltas,
}: Pick<AudienceHeader, 'shards' | 'deltas'>): Generator<ListPart, void> {
  let [runsAt, rowsAt] = [0, 0]
  const waiting = [...deltas]
  function* deltasBefore(sourceId: number): Generator<ListPart, void> {
    while (waiting.length > 0 && waiting[0].sourceId < sourceId) {
      const item = waiting.shift() as AudienceDelta
      const start = rowsAt
      rowsAt += rowBytesOf(item)
      yield { kind: 'delta', item, start, end: rowsAt }
    }
  }
  for (const item of shards) {
    yield* deltasBefore(item.sourceId)
    const start = runsAt
    runsAt += 8 * item.runCount
    yield { kind: 'shard', item, start, end: runsAt }
  }
  yield* deltasBefore(Number.POSITIVE_INFINITY)
}

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

/**
 * @param shards  each with somebody in it
 * @param deltas  the same, by ascending id of the source
 */
export function encodeAudience(
  facts: Facts,
  shards: readonly FrozenShard[],
  deltas: readonly FrozenDelta[] = [],
): { header: AudienceHeader; parts: readonly Uint8Array[] } {
  const image = new Uint8Array(joinedRuns(shards).buffer)
  const rows =
    deltas.length === 1 ? deltas[0].bytes : Buffer.concat(deltas.map(({ bytes }) => bytes))
  const described = {
    shards: shards.map(({ runs, ...shard }) => ({
      ...shard,
      runCount: runs.length / 2,
      recipientCount: recipientCountOf(runs),
    })),
    deltas: deltas.map(({ sourceId, recipientCount, phoneBytes }) => {
      return { sourceId, recipientCount, phoneBytes }
    }),
  }
  const digest = new AudienceDigest()
  let recipientCount = 0
  for (const { kind, item, start, end } of listOrder(described)) {
    recipientCount += item.recipientCount
    if (kind === 'shard') digest.addShard(item, wordsOf(image.subarray(start, end)))
    else {
      digest.addDelta(item)
      digest.addRows(rows.subarray(start, end))
    }
  }
  const header: AudienceHeader = {
    ...facts,
    ...described,
    recipientCount,
    digest: digest.digest(),
    imageBytes: image.length,
    blockCrc32s: blockSumsOf(image),
    rowBytes: rows.length,
    rowBlockCrc32s: blockSumsOf(rows),
  }
  return { header, parts: [encodeHead(MAGIC, header, VERSION).bytes, image, rows] }
}

const wordsOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  new Uint32Array(buffer, byteOffset, length / 4)

/**
 * Everything but runs and rows.
 *
 * @param size  of the file
 * @throws FormatFault
 */
export async function readAudienceHeader(
  file: FileHandle,
  size: number,
): Promise<{ header: AudienceHeader; imageStart: number }> {
  const { header: found, imageStart } = await readHead(file, size, MAGIC, [VERSION])
  const header = checked(found)
  const { imageBytes, rowBytes, shards, deltas } = header
  if (size - imageStart !== imageBytes + rowBytes) {
    const bytes = `found ${size - imageStart} bytes of runs and rows`
    throw new FormatFault(`${bytes}, expected ${imageBytes + rowBytes}`)
  }
  const runBytes = shards.reduce((sum, { runCount }) => sum + 8 * runCount, 0)
  if (runBytes !== imageBytes) {
    throw new FormatFault(`found ${imageBytes} bytes of runs, expected ${runBytes}`)
  }
  const expected = deltas.reduce((sum, delta) => sum + rowBytesOf(delta), 0)
  if (rowBytes !== expected) {
    throw new FormatFault(`found ${rowBytes} bytes of rows, expected ${expected}`)
  }
  return { header, imageStart }
}

function checked(header: unknown): AudienceHeader {
  if (validator.Check(header)) return header
  const [error] = validator.Errors(header)
  throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
}

/**
 * The runs of each shard. Every byte of them is verified, every byte of the rows, and the digest of all.
 *
 * @throws FormatFault
 */
export async function readAudienceRuns(
  file: FileHandle,
  header: AudienceHeader,
  imageStart: number,
): Promise<Uint32Array[]> {
  const image = new Uint8Array(header.imageBytes)
  await readBlocks(file, image, imageStart, header.blockCrc32s)
  const rows = new RowsImage(file, header, imageStart + header.imageBytes)
  const digest = new AudienceDigest()
  const found: Uint32Array[] = []
  for (const { kind, item, start, end } of listOrder(header)) {
    if (kind === 'delta') {
      digest.addDelta(item)
      for await (const piece of rows.pieces(start, end)) digest.addRows(piece)
      continue
    }
    const runs = wordsOf(image.subarray(start, end))
    const fault = faultOfRuns(runs, item.recipientCount)
    if (fault !== undefined) throw new FormatFault(`found ${fault} of shard ${found.length}`)
    digest.addShard(item, runs)
    found.push(runs)
  }
  const hex = digest.digest()
  if (hex !== header.digest) {
    throw new FormatFault(`found the digest ${hex}, expected ${header.digest}`)
  }
  return found
}

function faultOfRuns(runs: Uint32Array, recipientCount: number): string | undefined {
  for (let i = 0; i < runs.length; i++) {
    // Of two runs that touch one would have been made.
    if (i > 0 && runs[i] <= runs[i - 1]) return 'runs out of order'
  }
  const found = recipientCountOf(runs)
  return found === recipientCount ? undefined : `${found} recipients in runs`
}
