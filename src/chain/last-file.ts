/**
 * The file at the end of a chain, to which one process after the other appends. What could not be written
 * to the end is cut off again, and a file that the system could not sync is written no more.
 *
 * Behind the head of the chain may be records of a writer that died, or lost power, before the head was
 * moved, or was moved for good: `recover` takes them.
 *
 * @module
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync, writeAllSync } from '../durable-files.js'
import type { ChainEnd, FileNumber } from './link.js'

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

  /** Whether a sync failed. Such a file is written no more. */
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

/** If this fails, what was refused is left out when it is found. */
function cutQuietly(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // `refused` says so.
  }
}

/** The records that continue a chain. */
export interface Continuation<R> {
  readonly taken: readonly R[]
  /** Where the last one of them ends in the bytes. */
  readonly end: number
}

interface Recovered<R> {
  readonly end: ChainEnd
  readonly taken: readonly R[]
  /** The bytes of a record that was torn, or does not continue the chain. */
  readonly cutBytes: number
}

interface Remains<R> {
  pathOf(number: FileNumber): string
  /** In these bytes, which follow those of the call before. */
  continuationIn(bytes: Buffer, file: FileNumber, start: number): Continuation<R>
  /**
   * The file in which a write of this process failed: what is behind the head there was refused, and is
   * not taken.
   */
  readonly refused: FileNumber | undefined
}

/** Takes the records that continue the chain, and cuts off what follows in the file of the last one. */
export function recover<R>(
  from: ChainEnd,
  { pathOf, continuationIn, refused }: Remains<R>,
): Recovered<R> {
  const taken: R[] = []
  let end = from
  let cutBytes = 0
  for (let file = Math.max(1, from.file); existsSync(pathOf(file)); file++) {
    const start = file === from.file ? from.bytes : 0
    const behind = readFileSync(pathOf(file)).subarray(start)
    const found = file === refused ? { taken: [], end: 0 } : continuationIn(behind, file, start)
    // A file without a continuation is begun anew when it is needed.
    if (found.taken.length === 0 && file > from.file) break
    settle(pathOf(file), behind.subarray(0, found.end), start)
    taken.push(...found.taken)
    cutBytes += behind.length - found.end
    end = { file, bytes: start + found.end }
  }
  return { end, taken, cutBytes }
}

/** Written once more: what a dead writer could not sync may be in memory alone, and pass for synced. */
export function settle(
  path: string,
  bytes: Uint8Array,
  start: number,
  { cutsRest = true } = {},
): void {
  const fd = openSync(path, 'r+')
  try {
    writeAllSync(fd, bytes, start)
    if (cutsRest) ftruncateSync(fd, start + bytes.length)
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
