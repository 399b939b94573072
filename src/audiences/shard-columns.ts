/**
 * Recipients of a shard file, read by pieces: kd order makes the columns of a run contiguous on the disk.
 * Every byte that is used is in a block that was verified since the file was opened; a block is verified
 * when the first of its bytes is needed.
 *
 * This reads on the thread that calls it, which must be one that nobody else waits for.
 *
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { Shard } from '../shard/layout.js'
import { NO_TIES } from '../shard/ties/ties.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { FormatFault } from '../snapshot/format/blocks.js'
import { readShardHead } from '../snapshot/format/shard-file.js'
import type { ShardHead } from '../snapshot/format/shard-image.js'
import type { ShardPlace } from './messages.js'

interface SectionPlace {
  readonly byteOffset: number
  readonly byteLength: number
}

/** A part of the image of which one checksum tells. */
interface Block {
  readonly start: number
  readonly end: number
  readonly crc32: number
}

const BLOCK_BYTES = 1 << 20

export class ShardColumns {
  readonly #descriptor: number
  readonly #head: ShardHead
  readonly #blocks: readonly Block[]
  readonly #isVerified: Uint8Array

  /** @throws OperatorError  as readFault says */
  static async open(dataDirectory: string, place: ShardPlace): Promise<ShardColumns> {
    const path = join(snapshotsDirectory(dataDirectory), place.snapshotId, place.file)
    const head = await readShardHead(path, place.byteLength)
    if (head.headerCrc32 !== place.headerCrc32) {
      throw new FormatFault(`found the shard with header CRC-32 ${head.headerCrc32}`)
    }
    return new ShardColumns(openSync(path, 'r'), head, place.byteLength)
  }

  constructor(descriptor: number, head: ShardHead, byteLength: number) {
    this.#descriptor = descriptor
    this.#head = head
    this.#blocks = blocksOf(head)
    this.#isVerified = new Uint8Array(this.#blocks.length)
    const { size } = fstatSync(descriptor)
    if (size !== byteLength) throw new FormatFault(`found ${size} bytes, expected ${byteLength}`)
  }

  get recipientCount(): number {
    return this.#head.header.recipientCount
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /**
   * Verifies all that is read of the recipients from `start` to before `end`, with pauses in which others
   * are served.
   *
   * @throws FormatFault
   */
  async verify(start: number, end: number): Promise<void> {
    if (!(start <= end && end <= this.recipientCount)) {
      throw new FormatFault(`found no recipients ${start} to ${end} in a shard`)
    }
    const coords = this.#coordsStart()
    await this.#verifyInTurns(coords + 8 * start, coords + 8 * end)
    const offsets = this.#section('numberOffsets').byteOffset
    await this.#verifyInTurns(offsets + 4 * start, offsets + 4 * end + 4)
    const phones = this.#section('numbers').byteOffset
    await this.#verifyInTurns(phones + this.#offsetAt(start), phones + this.#offsetAt(end))
  }

  /**
   * The recipients from `start` to before `end` as a shard of their own, in which `start` is 0. It has their
   * phones and positions, and nothing to search by.
   *
   * @throws FormatFault
   */
  rows(start: number, end: number): Shard {
    const { phones, phoneOffsets } = this.phones(start, end)
    const { box, sourceId } = this.#head.header
    const coords = new Int32Array(2 * (end - start))
    this.#read(this.#coordsStart() + 8 * start, new Uint8Array(coords.buffer))
    return {
      sourceId,
      recipientCount: end - start,
      contactCount: 0,
      box,
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
    const { byteOffset } = this.#section('numberOffsets')
    this.#read(byteOffset + 4 * start, new Uint8Array(phoneOffsets.buffer))
    const [first] = phoneOffsets
    const phones = new Uint8Array(phoneOffsets[end - start] - first)
    this.#read(this.#section('numbers').byteOffset + first, phones)
    for (let i = 0; i < phoneOffsets.length; i++) phoneOffsets[i] -= first
    return { phones, phoneOffsets }
  }

  /** In the image: they are the last part of the index. */
  #coordsStart(): number {
    const { byteOffset, byteLength } = this.#section('index')
    return byteOffset + byteLength - 8 * this.recipientCount
  }

  /** Where the phone of a recipient starts, or that of the last one ends. */
  #offsetAt(recipient: number): number {
    const offset = new Uint32Array(1)
    const { byteOffset } = this.#section('numberOffsets')
    this.#read(byteOffset + 4 * recipient, new Uint8Array(offset.buffer))
    return offset[0]
  }

  async #verifyInTurns(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += BLOCK_BYTES) {
      this.#verify(at, Math.min(to, at + BLOCK_BYTES))
      await turn()
    }
  }

  #section(name: 'index' | 'numberOffsets' | 'numbers'): SectionPlace {
    const section = this.#head.header.sections.find((candidate) => candidate.name === name)
    if (section === undefined) throw new FormatFault(`found no section ${name}`)
    return section
  }

  /** @param from  in the image */
  #read(from: number, into: Uint8Array): void {
    if (into.length === 0) return
    this.#verify(from, from + into.length)
    this.#readAll(from, into)
  }

  #verify(from: number, to: number): void {
    for (const [at, { start, end, crc32: expected }] of this.#blocks.entries()) {
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
    const position = this.#head.imageStart + from
    for (let at = 0; at < into.length; ) {
      const byteCount = readSync(this.#descriptor, into, at, into.length - at, position + at)
      if (byteCount === 0) throw new FormatFault(`found the end of the file at ${position + at}`)
      at += byteCount
    }
  }
}

const NOTHING = new Uint32Array(0)

/** As version 2 has it a MiB each, and as version 1 has it a section each. */
function blocksOf({ header: { sums, sections, imageBytes } }: ShardHead): Block[] {
  if (sums.of === 'sections') {
    return sections.map(({ byteOffset, byteLength }, at) => ({
      start: byteOffset,
      end: byteOffset + byteLength,
      crc32: sums.crc32s[at],
    }))
  }
  return sums.crc32s.map((sum, at) => ({
    start: at * BLOCK_BYTES,
    end: Math.min((at + 1) * BLOCK_BYTES, imageBytes),
    crc32: sum,
  }))
}
