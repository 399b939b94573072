/**
 * Recipients of a shard file, or of a delta in the file of an audience, read from the disk by pieces: the columns of a run
 * are contiguous, in a shard by its kd order. Each block is verified when the first of its bytes is needed.
 *
 * This blocks the thread that calls it, which must be one that no other thread waits for.
 *
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { limits } from '../limits.js'
import type { Shard } from '../shard/layout.js'
import { encodeRows, rowBytes } from '../shard/rows/encode-rows.js'
import { prefixOf, type RowFormat, rowBytesMax } from '../shard/rows/row-format.js'
import { recipientCountOf } from '../shard/runs.js'
import { NO_TIES } from '../shard/ties/ties.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { BLOCK_BYTES, FormatFault } from '../snapshot/format/blocks.js'
import { readShardHead } from '../snapshot/format/shard-file.js'
import type { ShardHead } from '../snapshot/format/shard-image.js'
import { audiencesDirectory } from '../snapshot/retention/audience-names.js'
import { unknownAudience } from '../store/audiences.js'
import { withAudience } from './directory.js'
import { columnStarts, listOrder } from './file.js'
import type { DeltaPlace, RowsPlace, ShardPlace } from './messages.js'

/** A part of the image with its checksum. */
interface Block {
  readonly start: number
  readonly end: number
  readonly crc32: number
}

interface Layout {
  readonly path: string
  /** The length of the file. */
  readonly byteLength: number
  /** In the file. All following offsets begin there. */
  readonly imageStart: number
  readonly blocks: readonly Block[]
  readonly sourceId: number
  readonly recipientCount: number
  readonly coordsStart: number
  readonly offsetsStart: number
  readonly phonesStart: number
}

export class ShardColumns {
  readonly #layout: Layout
  readonly #descriptor: number
  readonly #isVerified: Uint8Array

  /** @throws FormatFault, or OperatorError as readFault says */
  static async open(dataDirectory: string, place: RowsPlace): Promise<ShardColumns> {
    return new ShardColumns(
      'audience' in place
        ? await layoutOfDelta(dataDirectory, place)
        : await layoutOfShard(dataDirectory, place),
    )
  }

  constructor(layout: Layout) {
    const { path, byteLength, blocks } = layout
    this.#layout = layout
    this.#isVerified = new Uint8Array(blocks.length)
    this.#descriptor = openSync(path, 'r')
    const { size } = fstatSync(this.#descriptor)
    if (size === byteLength) return
    this.close()
    throw new FormatFault(`found ${size} bytes, expected ${byteLength}`)
  }

  get recipientCount(): number {
    return this.#layout.recipientCount
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /**
   * Verifies all that is read for the recipients from `start` to before `end`, with pauses in which others are served.
   *
   * @throws FormatFault
   */
  async verify(start: number, end: number): Promise<void> {
    if (!(start <= end && end <= this.recipientCount)) {
      throw new FormatFault(`found no recipients ${start} to ${end} in a shard`)
    }
    const { coordsStart, offsetsStart, phonesStart } = this.#layout
    await this.#verifyInTurns(coordsStart + 8 * start, coordsStart + 8 * end)
    await this.#verifyInTurns(offsetsStart + 4 * start, offsetsStart + 4 * end + 4)
    const [phonesFrom, phonesTo] = [this.#offsetAt(start), this.#offsetAt(end)]
    await this.#verifyInTurns(phonesStart + phonesFrom, phonesStart + phonesTo)
  }

  /**
   * The recipients from `start` to before `end` as a shard of their own, in which `start` is 0. It has only phones and
   * positions.
   *
   * @throws FormatFault
   */
  rows(start: number, end: number): Shard {
    const { phones, phoneOffsets } = this.phones(start, end)
    const { coordsStart, sourceId } = this.#layout
    const coords = new Int32Array(2 * (end - start))
    this.#read(coordsStart + 8 * start, new Uint8Array(coords.buffer))
    return {
      sourceId,
      recipientCount: end - start,
      contactCount: 0,
      box: NO_BOX,
      nodeSize: 0,
      ids: NOTHING,
      coords,
      contacts: NOTHING,
      phoneOffsets,
      phones,
      arena: null,
      marks: null,
      mask: null,
      contactTies: NO_TIES,
      phoneTies: NO_TIES,
      packs: null,
    }
  }

  /** Their phones alone. */
  phones(start: number, end: number): { phoneOffsets: Uint32Array; phones: Uint8Array } {
    if (!(start <= end && end <= this.recipientCount)) {
      throw new FormatFault(`found no recipients ${start} to ${end} in a shard`)
    }
    const phoneOffsets = new Uint32Array(end - start + 1)
    const { offsetsStart, phonesStart } = this.#layout
    this.#read(offsetsStart + 4 * start, new Uint8Array(phoneOffsets.buffer))
    const [first] = phoneOffsets
    const phones = new Uint8Array(phoneOffsets[end - start] - first)
    this.#read(phonesStart + first, phones)
    for (let i = 0; i < phoneOffsets.length; i++) phoneOffsets[i] -= first
    return { phones, phoneOffsets }
  }

  /** The start of the phone of a recipient, or the end of the last one. */
  #offsetAt(recipient: number): number {
    const offset = new Uint32Array(1)
    this.#read(this.#layout.offsetsStart + 4 * recipient, new Uint8Array(offset.buffer))
    return offset[0]
  }

  async #verifyInTurns(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += BLOCK_BYTES) {
      this.#verify(at, Math.min(to, at + BLOCK_BYTES))
      await turn()
    }
  }

  /** @param from  in the image */
  #read(from: number, into: Uint8Array): void {
    if (into.length === 0) return
    this.#verify(from, from + into.length)
    this.#readAll(from, into)
  }

  #verify(from: number, to: number): void {
    for (const [at, { start, end, crc32: expected }] of this.#layout.blocks.entries()) {
      if (start >= to || end <= from || this.#isVerified[at] === 1) continue
      const found = this.#sumOf(start, end)
      if (found !== expected) {
        const place = `bytes ${start} to ${end} of the image`
        throw new FormatFault(`found ${place} with CRC-32 ${found}, expected ${expected}`)
      }
      this.#isVerified[at] = 1
    }
  }

  #sumOf(start: number, end: number): number {
    const piece = new Uint8Array(Math.min(BLOCK_BYTES, end - start))
    let sum = 0
    for (let at = start; at < end; at += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, end - at))
      this.#readAll(at, part)
      sum = crc32(part, sum)
    }
    return sum
  }

  #readAll(from: number, into: Uint8Array): void {
    const position = this.#layout.imageStart + from
    for (let at = 0; at < into.length; ) {
      const byteCount = readSync(this.#descriptor, into, at, into.length - at, position + at)
      if (byteCount === 0) throw new FormatFault(`found the end of the file at ${position + at}`)
      at += byteCount
    }
  }
}

/** Encodes as many of the recipients as there is room for, at least one, like those in memory. */
export function encodeFrom(
  columns: ShardColumns,
  runs: Uint32Array,
  format: RowFormat,
): { rowCount: number; bytes: Uint8Array } {
  const into = new Uint8Array(limits.rowBufferBytes)
  const longestBytes = rowBytesMax(format.kind, prefixOf(format).length)
  let rowCount = 0
  let byteCount = 0
  for (const { start, end, runs: own } of windowsOf(runs)) {
    if (into.length - byteCount < longestBytes) break
    const encoded = encodeRows(columns.rows(start, end), own, format, into.subarray(byteCount))
    rowCount += encoded.rowCount
    byteCount += encoded.byteCount
    if (encoded.rowCount < recipientCountOf(own)) break
  }
  return { rowCount, bytes: into.subarray(0, byteCount) }
}

export function rowBytesFrom(columns: ShardColumns, runs: Uint32Array, format: RowFormat): number {
  let byteCount = 0
  for (const { start, end, runs: own } of windowsOf(runs)) {
    byteCount += rowBytes(columns.rows(start, end), own, format)
  }
  return byteCount
}

/** The phones of the recipients, in windows. */
export function* phonesOfRuns(columns: ShardColumns, runs: Uint32Array): Generator<PhonesWindow> {
  for (const { start, end, runs: own } of windowsOf(runs)) {
    yield { ...columns.phones(start, end), runs: own, start }
  }
}

export interface PhonesWindow extends Pick<Shard, 'phones' | 'phoneOffsets'> {
  /** By index in the window. */
  readonly runs: Uint32Array
  /** The first recipient of the window in the file. */
  readonly start: number
}

/**
 * A read of its own takes about as long as this many recipients more: runs that lie nearer to each other
 * are read together.
 */
const NEAR_COUNT = 512

/** Runs that are read together, and the range of recipients that has them. */
interface Window {
  readonly start: number
  readonly end: number
  /** By index in the window. */
  readonly runs: Uint32Array
}

function* windowsOf(runs: Uint32Array): Generator<Window> {
  let first = 0
  let start = runs[0] ?? 0
  while (first < runs.length) {
    // A run that is longer than a window is read in several.
    let last = first
    let end = Math.min(runs[first + 1], start + limits.audienceReadCount)
    while (
      last + 2 < runs.length &&
      end === runs[last + 1] &&
      runs[last + 2] - end <= NEAR_COUNT &&
      runs[last + 3] - start <= limits.audienceReadCount
    ) {
      last += 2
      end = runs[last + 1]
    }
    const own = runs.slice(first, last + 2)
    own[0] = start
    own[own.length - 1] = end
    for (let i = 0; i < own.length; i++) own[i] -= start
    yield { start, end, runs: own }
    const isWhole = end === runs[last + 1]
    first = isWhole ? last + 2 : last
    start = isWhole ? (runs[first] ?? 0) : end
  }
}

const NOTHING = new Uint32Array(0)

/** Rows are not searched. */
const NO_BOX = { minLng: 0, minLat: 0, maxLng: 0, maxLat: 0 }

async function layoutOfShard(dataDirectory: string, place: ShardPlace): Promise<Layout> {
  const { snapshotId, file, byteLength, headerCrc32 } = place
  const path = join(snapshotsDirectory(dataDirectory), snapshotId, file)
  const head = await readShardHead(path, byteLength)
  if (head.headerCrc32 !== headerCrc32) {
    throw new FormatFault(`found the shard with header CRC-32 ${head.headerCrc32}`)
  }
  const { sourceId, recipientCount, sections } = head.header
  const section = (name: 'index' | 'numberOffsets' | 'numbers') => {
    const found = sections.find((candidate) => candidate.name === name)
    if (found === undefined) throw new FormatFault(`found no section ${name}`)
    return found
  }
  const index = section('index')
  return {
    path,
    byteLength,
    imageStart: head.imageStart,
    blocks: blocksOf(head),
    sourceId,
    recipientCount,
    // They are the last part of the index.
    coordsStart: index.byteOffset + index.byteLength - 8 * recipientCount,
    offsetsStart: section('numberOffsets').byteOffset,
    phonesStart: section('numbers').byteOffset,
  }
}

async function layoutOfDelta(
  dataDirectory: string,
  { audience, sourceId }: DeltaPlace,
): Promise<Layout> {
  const found = await withAudience(dataDirectory, audience, async (_, header, imageStart) => {
    return { header, rowsStart: imageStart + header.imageBytes }
  })
  if (found === undefined) throw unknownAudience()
  const { header, rowsStart } = found
  for (const { kind, item, start } of listOrder(header)) {
    if (kind !== 'delta' || item.sourceId !== sourceId) continue
    const { coordsStart, offsetsStart, phonesStart } = columnStarts(item)
    return {
      path: join(audiencesDirectory(dataDirectory), audience.name),
      byteLength: rowsStart + header.rowBytes,
      imageStart: rowsStart,
      blocks: blocksOfMiB(header.rowBlockCrc32s, header.rowBytes),
      sourceId,
      recipientCount: item.recipientCount,
      coordsStart: start + coordsStart,
      offsetsStart: start + offsetsStart,
      phonesStart: start + phonesStart,
    }
  }
  throw new FormatFault(`found no rows of source ${sourceId}`)
}

/** Version 2 has a checksum for each MiB, version 1 for each section. */
function blocksOf({ header: { sums, sections, imageBytes } }: ShardHead): Block[] {
  if (sums.of === 'sections') {
    return sections.map(({ byteOffset, byteLength }, at) => ({
      start: byteOffset,
      end: byteOffset + byteLength,
      crc32: sums.crc32s[at],
    }))
  }
  return blocksOfMiB(sums.crc32s, imageBytes)
}

function blocksOfMiB(sums: readonly number[], imageBytes: number): Block[] {
  return sums.map((sum, at) => ({
    start: at * BLOCK_BYTES,
    end: Math.min((at + 1) * BLOCK_BYTES, imageBytes),
    crc32: sum,
  }))
}
