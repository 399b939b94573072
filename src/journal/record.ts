/**
 * One record of a journal: a batch of changes as bytes (docs/journal-format.md). Numbers are little-endian.
 *
 * @module
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Link } from '../chain/link.js'
import { limits } from '../limits.js'

/** Offsets in the header. The id of the batch follows it, and then the content. */
const FIELD = {
  magic: 0,
  /** Of the whole record, in bytes. */
  length: 4,
  /** CRC-32 of everything behind it. */
  crc: 8,
  /** The place of the record in the group that was written with it, from 0. */
  groupIndex: 12,
  groupCount: 16,
  changeCount: 20,
  sequence: 24,
  timeMs: 32,
  sourceId: 40,
  batchIdBytes: 44,
  /** Hash of the record before. */
  previous: 48,
  /** SHA-256 of the content. */
  digest: 80,
} as const

export const RECORD_HEADER_BYTES = 112

/**
 * In the place of the id of a source: the record is an entry of a cluster and changes no recipients. Above
 * `limits.sourceIdMax`.
 */
export const ENTRY_SOURCE = 0xffff_ffff

/** `HKJ` and the version of the format. */
const MAGIC = Buffer.from([0x48, 0x4b, 0x4a, 0x01])

export interface JournalRecord extends Link {
  readonly previous: string
  readonly groupIndex: number
  readonly groupCount: number
  readonly changeCount: number
  readonly timeMs: number
  readonly sourceId: number
  readonly batchId: string
  readonly content: Uint8Array
  readonly digest: Uint8Array
  /** Of the whole record, in bytes. */
  readonly length: number
  /** The whole record. */
  readonly bytes: Buffer
}

/** What a record says, but for what follows from its place in the chain. */
type RecordBody = Omit<JournalRecord, 'sequence' | 'hash' | 'previous' | 'length' | 'bytes'>

export function recordBytes({ batchId, content }: Pick<RecordBody, 'batchId' | 'content'>): number {
  return RECORD_HEADER_BYTES + Buffer.byteLength(batchId) + content.length
}

/** Writes the record that follows another one, from `start` to `end` of a buffer. */
export function writeRecord(
  into: Buffer,
  [start, end]: readonly [start: number, end: number],
  previous: Link,
  body: RecordBody,
): Link {
  const { batchId, content } = body
  const contentStart = end - content.length
  const idStart = start + RECORD_HEADER_BYTES
  const sequence = previous.sequence + 1
  into.set(MAGIC, start + FIELD.magic)
  into.writeUInt32LE(end - start, start + FIELD.length)
  into.writeUInt32LE(body.groupIndex, start + FIELD.groupIndex)
  into.writeUInt32LE(body.groupCount, start + FIELD.groupCount)
  into.writeUInt32LE(body.changeCount, start + FIELD.changeCount)
  writeWide(into, sequence, start + FIELD.sequence)
  writeWide(into, body.timeMs, start + FIELD.timeMs)
  into.writeUInt32LE(body.sourceId, start + FIELD.sourceId)
  into.writeUInt32LE(contentStart - idStart, start + FIELD.batchIdBytes)
  into.write(previous.hash, start + FIELD.previous, 'hex')
  into.set(body.digest, start + FIELD.digest)
  into.write(batchId, idStart)
  into.set(content, contentStart)
  into.writeUInt32LE(crc32(into.subarray(start + FIELD.groupIndex, end)), start + FIELD.crc)
  return { sequence, hash: hashOf(into.subarray(start, contentStart)) }
}

/** Why there is no record: the bytes are none, or are too few. */
interface NoRecord {
  /** How many bytes it takes to know more; undefined where no more would help. */
  readonly neededBytes: number | undefined
}

/** Reads the record at an offset; its content is a part of the bytes. */
export function readRecord(bytes: Buffer, at: number): JournalRecord | NoRecord {
  const leftBytes = bytes.length - at
  if (leftBytes < RECORD_HEADER_BYTES) return { neededBytes: RECORD_HEADER_BYTES }
  if (bytes.compare(MAGIC, 0, MAGIC.length, at, at + MAGIC.length) !== 0) return NONE
  const length = bytes.readUInt32LE(at + FIELD.length)
  const idBytes = bytes.readUInt32LE(at + FIELD.batchIdBytes)
  const contentStart = RECORD_HEADER_BYTES + idBytes
  if (length > limits.journalRecordBytes || length < contentStart) return NONE
  if (length > leftBytes) return { neededBytes: length }
  const record = bytes.subarray(at, at + length)
  if (crc32(record.subarray(FIELD.groupIndex)) !== record.readUInt32LE(FIELD.crc)) return NONE
  return {
    sequence: readWide(record, FIELD.sequence),
    hash: hashOf(record.subarray(0, contentStart)),
    previous: record.toString('hex', FIELD.previous, FIELD.digest),
    groupIndex: record.readUInt32LE(FIELD.groupIndex),
    groupCount: record.readUInt32LE(FIELD.groupCount),
    changeCount: record.readUInt32LE(FIELD.changeCount),
    timeMs: readWide(record, FIELD.timeMs),
    sourceId: record.readUInt32LE(FIELD.sourceId),
    batchId: record.toString('utf8', RECORD_HEADER_BYTES, contentStart),
    digest: record.subarray(FIELD.digest, RECORD_HEADER_BYTES),
    content: record.subarray(contentStart),
    length,
    bytes: record,
  }
}

export function isRecord(found: JournalRecord | NoRecord): found is JournalRecord {
  return 'sequence' in found
}

/** Whether the content is the one whose digest the header, and so the chain, has. */
export function hasItsDigest({
  content,
  digest,
}: Pick<JournalRecord, 'content' | 'digest'>): boolean {
  return Buffer.compare(hash('sha256', content, 'buffer'), digest) === 0
}

/** Whether one record follows another. */
export function follows(record: JournalRecord, previous: Link): boolean {
  return record.sequence === previous.sequence + 1 && record.previous === previous.hash
}

/** Where the next bytes are that may begin a record; -1 if there are none. */
export function nextMagic(bytes: Buffer, from: number): number {
  return bytes.indexOf(MAGIC, from)
}

/** The header names the digest of the content, so that a hash of all but the content is one of all. */
function hashOf(header: Uint8Array): string {
  return hash('sha256', header, 'hex')
}

/** Of 64 bits. */
function writeWide(into: Buffer, value: number, at: number): void {
  into.writeUInt32LE(value % TWO_32, at)
  into.writeUInt32LE(Math.floor(value / TWO_32), at + 4)
}

function readWide(from: Buffer, at: number): number {
  return from.readUInt32LE(at) + TWO_32 * from.readUInt32LE(at + 4)
}

const TWO_32 = 2 ** 32
const NONE: NoRecord = { neededBytes: undefined }
