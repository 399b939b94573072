/**
 * The texts of rejected rows, from when they are read until the line of each row is known: in a file
 * of our own that nobody else may read, so that any number of them takes no memory.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { refusalText } from '../../system-refusals.js'

/** As they were read; empty where there is none, or where the record could not be told apart. */
export interface RowTexts {
  readonly phone: string
  readonly lat: string
  readonly lng: string
}

export const NO_TEXTS: RowTexts = { phone: '', lat: '', lng: '' }

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
const TEXT_COUNT = 3
/** Each text follows its length. */
const LENGTH_BYTES = 4
/** Written and read at a time. */
const PIECE_BYTES = 1 << 18

export class RejectedTexts {
  readonly #directory: string
  #path: string | undefined
  #file = -1
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #read = Buffer.alloc(0)
  #readAt = 0
  #filePosition = 0

  /** @param directory  made when the first text comes */
  constructor(directory: string) {
    this.#directory = directory
  }

  /** Forgets all of them. */
  restart(): void {
    if (this.#file !== -1) ftruncateSync(this.#file)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#read = Buffer.alloc(0)
    this.#readAt = 0
    this.#filePosition = 0
  }

  /** Adds one of the three texts of a row; the row is complete with the third. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const item = Buffer.alloc(LENGTH_BYTES + end - start)
    item.writeUInt32LE(end - start)
    item.set(bytes.subarray(start, end), LENGTH_BYTES)
    this.#waiting.push(item)
    this.#waitingBytes += item.length
    if (this.#waitingBytes >= PIECE_BYTES) this.#flush()
  }

  /** The texts of the first row that was not given yet, in the order in which they were added. */
  next(): RowTexts {
    this.#flush()
    const [phone, lat, lng] = Array.from({ length: TEXT_COUNT }, () => this.#nextText())
    return { phone, lat, lng }
  }

  /** Removes the file; may be called again. */
  remove(): void {
    if (this.#path === undefined) return
    closeSync(this.#file)
    rmSync(this.#path, { force: true })
    this.#path = undefined
    this.#file = -1
  }

  #flush(): void {
    if (this.#waitingBytes === 0) return
    const piece = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    try {
      if (this.#file === -1) this.#open()
      for (let at = 0; at < piece.length; ) at += writeSync(this.#file, piece, at)
    } catch (error) {
      throw new OperatorError(
        'Failed',
        `rejected rows cannot be kept in ${this.#directory}: ${refusalText(error)}`,
      )
    }
  }

  #open(): void {
    mkdirSync(this.#directory, { recursive: true, mode: DIRECTORY_MODE })
    const name = `rejected-${process.pid}-${randomBytes(6).toString('hex')}.tmp`
    this.#path = join(this.#directory, name)
    // For appending, so that what was truncated begins anew.
    this.#file = openSync(this.#path, 'ax+', FILE_MODE)
  }

  #nextText(): string {
    this.#need(LENGTH_BYTES)
    const byteCount = this.#read.readUInt32LE(this.#readAt)
    this.#readAt += LENGTH_BYTES
    this.#need(byteCount)
    const text = this.#read.toString('utf8', this.#readAt, this.#readAt + byteCount)
    this.#readAt += byteCount
    return text
  }

  /** Reads on until so many bytes are there. */
  #need(byteCount: number): void {
    const rest = this.#read.subarray(this.#readAt)
    if (rest.length >= byteCount) return
    const piece = Buffer.alloc(Math.max(PIECE_BYTES, byteCount - rest.length))
    const count = readSync(this.#file, piece, 0, piece.length, this.#filePosition)
    this.#filePosition += count
    this.#read = Buffer.concat([rest, piece.subarray(0, count)])
    this.#readAt = 0
    if (count === 0) throw new Error('there are more rejected rows than texts of them')
    if (this.#read.length < byteCount) this.#need(byteCount)
  }
}
