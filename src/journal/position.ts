/**
 * The file that tells readers where the journal ends. Two slots are written in turn, so that one of them is
 * whole at any time. It is written when the records are on disk, and not synced itself: what is lost with
 * the power is found again behind the head in LMDB.
 *
 * @module
 */
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncDirectorySync, writeAllSync } from '../durable-files.js'
import type { JournalHead } from './head.js'

export class PositionFile {
  readonly #path: string
  readonly #fd: number
  readonly #ino: number
  readonly #bytes = Buffer.alloc(SLOT_BYTES * SLOT_COUNT)
  readonly #before = Buffer.alloc(SLOT_BYTES * SLOT_COUNT)
  #head: JournalHead | undefined
  #slot = 0

  private constructor(path: string, flags: 'r' | 'r+') {
    this.#path = path
    this.#fd = openSync(path, flags)
    this.#ino = fstatSync(this.#fd).ino
  }

  /** @throws  ENOENT where there is none */
  static openToRead(path: string): PositionFile {
    return new PositionFile(path, 'r')
  }

  /** Makes it where there is none. Only with the lock of the journal. */
  static openToWrite(path: string): PositionFile {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (size < SLOT_BYTES * SLOT_COUNT) {
      const fd = openSync(path, 'a', 0o600)
      closeSync(fd)
      const file = new PositionFile(path, 'r+')
      // So that no later write needs room on the disk.
      writeAllSync(file.#fd, Buffer.alloc(SLOT_BYTES * SLOT_COUNT - size), size)
      file.sync()
      syncDirectorySync(dirname(path))
      return file
    }
    return new PositionFile(path, 'r+')
  }

  /** Undefined where no slot is whole. */
  read(): JournalHead | undefined {
    const count = readSync(this.#fd, this.#bytes, 0, this.#bytes.length, 0)
    this.#bytes.fill(0, count)
    if (this.#head !== undefined && this.#bytes.equals(this.#before)) return this.#head
    this.#head = undefined
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const found = slotIn(this.#bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES))
      if (found === undefined || !isLater(found, this.#head)) continue
      this.#head = found
      this.#slot = slot
    }
    this.#bytes.copy(this.#before)
    return this.#head
  }

  /** With the lock of the journal, after `read`. */
  write(head: JournalHead): void {
    const slot = (this.#slot + 1) % SLOT_COUNT
    writeAllSync(this.#fd, slotOf(head), slot * SLOT_BYTES)
    this.#slot = slot
  }

  /** Writes a head that is not as late as the one before, to disk. With the lock of the journal, after `read`. */
  goBack(head: JournalHead): void {
    for (let slot = 0; slot < SLOT_COUNT; slot++) this.write(head)
    this.sync()
  }

  sync(): void {
    fdatasyncSync(this.#fd)
  }

  /** Whether it is still what its path leads to. */
  isInPlace(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#ino
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** A whole file, for a journal that is copied. */
export function positionBytes(head: JournalHead): Buffer {
  return Buffer.concat([slotOf(head), Buffer.alloc(SLOT_BYTES * (SLOT_COUNT - 1))])
}

const SLOT_COUNT = 2
/** A sector, which a disk writes whole. */
const SLOT_BYTES = 512

/** Offsets in a slot: CRC-32 of what follows, how many bytes of JSON there are, and these. */
const CRC = 0
const LENGTH = 4
const JSON_START = 6

function slotOf(head: JournalHead): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES)
  const length = slot.write(JSON.stringify(head), JSON_START)
  slot.writeUInt16LE(length, LENGTH)
  slot.writeUInt32LE(crc32(slot.subarray(LENGTH)), CRC)
  return slot
}

function slotIn(slot: Buffer): JournalHead | undefined {
  const length = slot.readUInt16LE(LENGTH)
  if (length === 0 || crc32(slot.subarray(LENGTH)) !== slot.readUInt32LE(CRC)) return undefined
  return JSON.parse(slot.toString('utf8', JSON_START, JSON_START + length)) as JournalHead
}

/** The same batch may be the last one when files are removed. */
function isLater(head: JournalHead, other: JournalHead | undefined): boolean {
  if (other === undefined) return true
  if (head.sequence !== other.sequence) return head.sequence > other.sequence
  if (head.first.file !== other.first.file) return head.first.file > other.first.file
  const [place, otherPlace] = [head.log?.place ?? 0, other.log?.place ?? 0]
  if (place !== otherPlace) return place > otherPlace
  return head.log?.digest !== undefined && other.log?.digest === undefined
}
