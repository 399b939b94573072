/**
 * Walks over the records of a journal, from file to file, as far as they follow one another.
 *
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileNumber, Link } from '../chain/link.js'
import { JournalDamaged } from './damaged.js'
import { journalFileName, journalPath } from './files.js'
import type { JournalHead, JournalPlace } from './head.js'
import { follows, isRecord, type JournalRecord, RECORD_HEADER_BYTES, readRecord } from './record.js'

/** A record, and where it ends. */
interface PlacedRecord {
  readonly record: JournalRecord
  readonly place: JournalPlace
}

/**
 * The records behind one place up to another one, which is on disk.
 *
 * @throws JournalDamaged
 */
export function* recordsBetween(
  directory: string,
  from: JournalPlace,
  to: JournalPlace,
): Generator<PlacedRecord> {
  let place: JournalPlace = from.file === 0 ? { ...from, file: 1 } : from
  while (place.sequence < to.sequence) {
    const walked = yield* recordsOfFile(directory, place, to)
    place = walked.place
    if (place.sequence === to.sequence) break
    // What a writer gave up behind its last record is no damage: the next file goes on.
    const next = { ...place, file: place.file + 1, bytes: 0 }
    if (next.file > to.file) throw damagedAt(directory, place, NOT_AS_WRITTEN)
    const first = firstRecordOf(directory, next.file)
    if (first === undefined || !follows(first, place)) {
      throw damagedAt(directory, walked.isAtEnd ? next : place, NOT_AS_WRITTEN)
    }
    place = next
  }
  if (place.hash !== to.hash) throw damagedAt(directory, place, 'is not the one that was written')
}

/** The first record of a file; undefined where it has none that is whole, or is not there. */
export function firstRecordOf(directory: string, file: FileNumber): JournalRecord | undefined {
  const fd = openIfThere(journalPath(directory, file))
  if (fd === undefined) return undefined
  try {
    const size = fstatSync(fd).size
    const start = readPiece(fd, 0, Math.min(PIECE_BYTES, size))
    const found = readRecord(start, 0)
    if (isRecord(found)) return found
    const { neededBytes = Number.POSITIVE_INFINITY } = found
    if (neededBytes > size || neededBytes <= start.length) return undefined
    const whole = readRecord(readPiece(fd, 0, neededBytes), 0)
    return isRecord(whole) ? whole : undefined
  } finally {
    closeSync(fd)
  }
}

/** Not behind the head in LMDB, from which writers go on. */
export function firstKept(
  directory: string,
  head: JournalHead,
  { upTo, file: lastFile, sequence: lastSequence }: JournalPlace & { readonly upTo: number },
): JournalHead['first'] {
  let { first } = head
  while (first.file < lastFile) {
    const next = firstRecordOf(directory, first.file + 1)
    if (next === undefined || next.sequence > Math.min(upTo, lastSequence) + 1) break
    const after = { sequence: next.sequence - 1, hash: next.previous }
    first = { file: first.file + 1, after }
  }
  return first
}

/** Names the record that should follow a place. */
export function damagedAt(
  directory: string,
  { file, bytes, sequence }: JournalPlace,
  problem: string,
): JournalDamaged {
  return new JournalDamaged({
    directory,
    file: journalFileName(file),
    offset: bytes,
    sequence: sequence + 1,
    problem,
  })
}

/** @returns the place behind the last record that follows, and whether nothing comes then */
function* recordsOfFile(
  directory: string,
  from: JournalPlace,
  to: JournalPlace,
): Generator<PlacedRecord, { readonly place: JournalPlace; readonly isAtEnd: boolean }> {
  const { file } = from
  const fd = openIfThere(journalPath(directory, file))
  if (fd === undefined) throw damagedAt(directory, from, 'is missing with its file')
  try {
    const end = file === to.file ? to.bytes : fstatSync(fd).size
    let place = from
    for (const record of recordsIn(fd, from.bytes, end)) {
      if (!follows(record, place)) break
      const { sequence, hash }: Link = record
      place = { sequence, hash, file, bytes: place.bytes + record.length }
      yield { record, place }
      if (sequence === to.sequence) break
    }
    return { place, isAtEnd: place.bytes === end }
  } finally {
    closeSync(fd)
  }
}

/** The records of a part of a file, as far as they are whole. */
function* recordsIn(fd: number, start: number, end: number): Generator<JournalRecord> {
  let offset = start
  let wantedBytes = PIECE_BYTES
  while (end - offset >= RECORD_HEADER_BYTES) {
    const pieceBytes = Math.min(wantedBytes, end - offset)
    const piece = readPiece(fd, offset, pieceBytes)
    let at = 0
    let found = readRecord(piece, at)
    while (isRecord(found)) {
      yield found
      at += found.length
      found = readRecord(piece, at)
    }
    const { neededBytes } = found
    if (neededBytes === undefined || neededBytes > end - offset - at) return
    // The file is shorter than it should be.
    if (piece.length < pieceBytes) return
    offset += at
    wantedBytes = Math.max(PIECE_BYTES, neededBytes)
  }
}

function readPiece(fd: number, offset: number, byteCount: number): Buffer {
  const piece = Buffer.allocUnsafe(byteCount)
  let count = 0
  while (count < byteCount) {
    const read = readSync(fd, piece, count, byteCount - count, offset + count)
    if (read === 0) break
    count += read
  }
  return piece.subarray(0, count)
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}

const NOT_AS_WRITTEN = 'is missing or not as it was written'
const PIECE_BYTES = 1 << 20
