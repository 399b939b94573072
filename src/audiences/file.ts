/**
 * The file of a frozen audience, see docs/audience-format.md: the head that all binary files have
 * (snapshot/format/container.ts), an image of runs, and one of rows. All integers are little-endian.
 *
 *   runs   for each shard of the header, in this order: ranges `[start, end)` of recipients of the shard, by index, as pairs
 *          of Uint32
 *   rows   for each delta of the header, in this order, the recipients that changes have added to a source since the
 *          snapshot, in the order of the list:
 *            coordinates   longitude and latitude in turn, Int32 in units of 1e-7 degree
 *            offsets       Uint32: the start of each phone among the phones, and the end of the last one
 *            phones        UTF-8, end to end
 *
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import Type, { type Static } from '#typebox'
import { limits } from '../limits.js'
import { decodeBinary } from '../shard/rows/binary-rows.js'
import { recipientCountOf } from '../shard/runs.js'
import { SNAPSHOT_ID } from '../snapshot/directory.js'
import { BLOCK_BYTES, blockSumsOf, FormatFault, readBlocks } from '../snapshot/format/blocks.js'
import { encodeHead, readHead } from '../snapshot/format/container.js'
import { validatorOf } from '../validator.js'

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
    /** The file of the shard in the directory of the snapshot, identified by its length and hashes. */
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
    /** The key that made it; null if the service asks for no keys. */
    keyName: Type.Union([Type.String(), Type.Null()]),
    /** SHA-256 of the boundary of that key; null if it had none. */
    boundaryDigest: Type.Union([Digest, Type.Null()]),
    /** Recipients that were suppressed at this version of the lists are not in it. */
    suppressionVersion: Count,
    /** SHA-256 of the change that made this version; null if the log did not have it. */
    suppressionDigest: Type.Union([Digest, Type.Null()]),
    recipientCount: Count,
    digest: Digest,
    /** The sources of the request, by ascending id. */
    sources: Type.Array(SourceSchema, { maxItems: limits.sourceCount }),
    /** Without empty ones, in the order of the list. */
    shards: Type.Array(ShardSchema),
    /** The length of the runs. */
    imageBytes: Count,
    blockCrc32s: Type.Array(Sum),
    /** The last batch of the journal that is in it. */
    sequence: Count,
    /** Without empty ones, by ascending id of the source. */
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

/** The frozen recipients of a shard. */
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

/** A shard or delta of the header, with its range of bytes in the image of runs or rows. */
interface Placed<Kind extends string, Item> {
  readonly kind: Kind
  readonly item: Item
  readonly start: number
  readonly end: number
}

type ListPart = Placed<'shard', AudienceShard> | Placed<'delta', AudienceDelta>

/** Shards and deltas in the order of the list: behind the shards of a source comes its delta. */
export function* listOrder({
  shards,
  deltas,
}: Pick<AudienceHeader, 'shards' | 'deltas'>): Generator<ListPart, void> {
  let [runsAt, rowsAt] = [0, 0]
  const rest = [...deltas]
  function* deltasBefore(sourceId: number): Generator<ListPart, void> {
    while (rest.length > 0 && rest[0].sourceId < sourceId) {
      const item = rest.shift() as AudienceDelta
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

/**
 * @param shards  without empty ones
 * @param deltas  without empty ones, by ascending id of the source
 */
export function encodeAudience(
  facts: Facts,
  shards: readonly FrozenShard[],
  deltas: readonly FrozenDelta[] = [],
): { header: AudienceHeader; parts: readonly Uint8Array[] } {
  const words = new Uint32Array(shards.reduce((sum, { runs }) => sum + runs.length, 0))
  let at = 0
  for (const { runs } of shards) {
    words.set(runs, at)
    at += runs.length
  }
  const image = new Uint8Array(words.buffer)
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
 * The runs of each shard. Verifies every byte of runs and rows, and the digest.
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
    // Runs that touch are joined.
    if (i > 0 && runs[i] <= runs[i - 1]) return 'runs out of order'
  }
  const found = recipientCountOf(runs)
  return found === recipientCount ? undefined : `${found} recipients in runs`
}

/** The recipients of an audience that changes have added to a source since its snapshot, as columns of the file. */
export interface FrozenDelta extends AudienceDelta {
  readonly bytes: Uint8Array
}

/** @param rows  as shard/rows/binary-rows.ts has them */
export function frozenDelta(sourceId: number, rows: Uint8Array): FrozenDelta {
  const { recipientCount, coords, phoneOffsets, phones } = decodeBinary(rows)
  const size = { sourceId, recipientCount, phoneBytes: phones.length }
  const { coordsStart, offsetsStart, phonesStart } = columnStarts(size)
  const bytes = new Uint8Array(rowBytesOf(size))
  bytes.set(bytesOf(coords), coordsStart)
  bytes.set(bytesOf(phoneOffsets), offsetsStart)
  bytes.set(phones, phonesStart)
  return { ...size, bytes }
}

/** The offsets of the columns, in bytes. */
export function columnStarts({ recipientCount }: Pick<AudienceDelta, 'recipientCount'>) {
  const offsetsStart = COORDS_BYTES * recipientCount
  const phonesStart = offsetsStart + OFFSET_BYTES * (recipientCount + 1)
  return { coordsStart: 0, offsetsStart, phonesStart }
}

function rowBytesOf(delta: AudienceDelta): number {
  return columnStarts(delta).phonesStart + delta.phoneBytes
}

const COORDS_BYTES = 8
const OFFSET_BYTES = 4

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * SHA-256 over the recipients of an audience, in the order of its list. A recipient of a shard file is named by its index in
 * the file, and the file by its own SHA-256; a recipient of a delta by position and phone. Neither the id of the snapshot
 * nor that of the audience nor a sequence goes into it. docs/audience-format.md says how to make it again.
 */
class AudienceDigest {
  readonly #hash: Hash = createHash('sha256').update('hickory-audience 1\n')

  addShard({ sourceId, sha256, runCount }: AudienceShard, runs: Uint32Array): void {
    this.#hash.update(`${sourceId} ${sha256} ${runCount}\n`)
    this.#hash.update(runs)
  }

  /** To be followed by `addRows`, with the rows as they are in the file. */
  addDelta({ sourceId, recipientCount, phoneBytes }: AudienceDelta): void {
    this.#hash.update(`${sourceId} rows ${recipientCount} ${phoneBytes}\n`)
  }

  addRows(bytes: Uint8Array): void {
    this.#hash.update(bytes)
  }

  /** In hexadecimal digits. Ends the digest. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** The rows of an audience, read from its file a block at a time: all of them need not be in memory to be verified. */
class RowsImage {
  readonly #file: FileHandle
  readonly #header: AudienceHeader
  readonly #start: number
  #block = new Uint8Array(0)
  #blockIndex = -1

  /** @param start  of the rows in the file */
  constructor(file: FileHandle, header: AudienceHeader, start: number) {
    const { rowBytes, rowBlockCrc32s } = header
    this.#file = file
    this.#header = header
    this.#start = start
    const blockCount = Math.ceil(rowBytes / BLOCK_BYTES)
    if (rowBlockCrc32s.length !== blockCount) {
      throw new FormatFault(`found ${rowBlockCrc32s.length} checksums, expected ${blockCount}`)
    }
  }

  /**
   * The bytes from `start` to before `end`, in pieces that stay until the next one is read.
   *
   * @throws FormatFault
   */
  async *pieces(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const index = Math.floor(at / BLOCK_BYTES)
      if (index !== this.#blockIndex) await this.#read(index)
      const blockStart = index * BLOCK_BYTES
      const pieceEnd = Math.min(end, blockStart + this.#block.length)
      yield this.#block.subarray(at - blockStart, pieceEnd - blockStart)
      at = pieceEnd
    }
  }

  async #read(index: number): Promise<void> {
    const { rowBytes, rowBlockCrc32s } = this.#header
    const start = index * BLOCK_BYTES
    const block = new Uint8Array(Math.min(BLOCK_BYTES, rowBytes - start))
    const sums = rowBlockCrc32s.slice(index, index + 1)
    await readBlocks(this.#file, block, this.#start + start, sums)
    this.#block = block
    this.#blockIndex = index
    // Others are to be served meanwhile.
    await turn()
  }
}
