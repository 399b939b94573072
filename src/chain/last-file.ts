/**
 * The file at the end of a chain, to which one process after the other appends. What could not be written
 * to the end is cut off again, and a file that the system could not sync is written no more.
 *
 * @module
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync, writeAllSync } from '../durable-files.js'
import type { FileNumber } from './numbered-files.js'

/** Where the last record of a chain ends. */
export interface ChainEnd {
  /** The file of the last record; 0 before the first one. */
  readonly file: FileNumber
  /** Where the last record ends in it. */
  readonly bytes: number
}

export class LastFile {
  readonly #pathOf: (number: FileNumber) => string
  #open: { readonly number: FileNumber; readonly fd: number } | undefined
  #refused: FileNumber | undefined
  #isDoubtful = false

  constructor(pathOf: (number: FileNumber) => string) {
    this.#pathOf = pathOf
  }

  /** The file in which a write of this process failed: what is behind the head there was refused. */
  get refused(): FileNumber | undefined {
    return this.#refused
  }

  /** Whether the system could not say that the file is on disk. Such a file is written no more. */
  get isDoubtful(): boolean {
    return this.#isDoubtful
  }

  /** What was refused is gone, or other records are in its place. */
  forgetRefused(): void {
    this.#refused = undefined
  }

  /** Begins a file anew. */
  begin(number: FileNumber): void {
    this.close()
    const path = this.#pathOf(number)
    this.#open = { number, fd: openSync(path, 'w', 0o600) }
    // A file is there for good only once its directory is.
    syncDirectorySync(dirname(path))
    this.#isDoubtful = false
  }

  /**
   * Writes behind the end, to disk.
   *
   * @param confirm  is called when the bytes are on disk, and may still refuse them
   * @throws  what the system says. Nothing is there then
   */
  append({ file, bytes: position }: ChainEnd, bytes: Uint8Array, confirm = () => {}): void {
    const fd = this.#fdOf(file)
    try {
      writeAllSync(fd, bytes, position)
      this.#sync(fd)
      confirm()
    } catch (fault) {
      this.#refused = file
      cutQuietly(fd, position)
      this.close()
      throw fault
    }
  }

  /** Whether the file is there as far as the head says. */
  isWhole({ file, bytes }: ChainEnd): boolean {
    const found = statSync(this.#pathOf(file), { throwIfNoEntry: false })
    if (found === undefined) return false
    if (this.#open?.number === file && fstatSync(this.#open.fd).ino !== found.ino) this.close()
    return found.size >= bytes
  }

  /** Whether there is more in the file, or another one behind it. */
  hasRemains({ file, bytes }: ChainEnd): boolean {
    const isBehind = file > 0 && fstatSync(this.#fdOf(file)).size > bytes
    return isBehind || statSync(this.#pathOf(file + 1), { throwIfNoEntry: false }) !== undefined
  }

  /** Cuts off what is behind the end, on disk. */
  cut({ file, bytes }: ChainEnd): void {
    const fd = this.#fdOf(file)
    if (fstatSync(fd).size <= bytes) return
    ftruncateSync(fd, bytes)
    this.#sync(fd)
  }

  close(): void {
    const open = this.#open
    this.#open = undefined
    if (open !== undefined) closeSync(open.fd)
  }

  #fdOf(number: FileNumber): number {
    if (this.#open?.number === number) return this.#open.fd
    this.close()
    const fd = openSync(this.#pathOf(number), 'r+')
    this.#open = { number, fd }
    return fd
  }

  #sync(fd: number): void {
    try {
      fdatasyncSync(fd)
    } catch (fault) {
      this.#isDoubtful = true
      throw fault
    }
  }
}

/** So that nobody finds what was refused. If that fails, it is left out when it is found. */
function cutQuietly(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // `refused` says so.
  }
}
