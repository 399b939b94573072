/**
 * Writes lines to an audit directory, on disk when `append` returns. Several processes may write to one
 * directory: each group of lines is written under the lock of the head, in this order: the lines, their
 * file to disk, the head. What a writer leaves that dies in between is for `remains.ts`.
 *
 * @module
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import { limits } from '../limits.js'
import { chainedLine, type Link } from './chain.js'
import { entryOf } from './entry.js'
import { auditFileNumbers, auditPath, type FileNumber } from './files.js'
import { type Head, type HeadStore, openHead } from './head.js'
import { recover } from './remains.js'
import { firstKept } from './retention.js'
import { writeAll } from './write-all.js'

interface WriterOptions {
  readonly directory: string
  /** Files with no younger line are removed; undefined keeps them for ever. */
  readonly keepDays?: number | undefined
  /** `limits.auditFileBytes` unless given. */
  readonly fileBytes?: number
  readonly now?: () => Date
}

export class AuditWriter {
  readonly #directory: string
  readonly #keepDays: number | undefined
  readonly #fileBytes: number
  readonly #now: () => Date
  #head: HeadStore | undefined
  #file: OpenFile | undefined
  /** The file in which a write failed. */
  #refused: FileNumber | undefined
  /** Whether the system could not say that it is on disk. Such a file is written no more. */
  #isDoubtful = false
  #mayHaveExpired = false

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#keepDays = options.keepDays
    this.#fileBytes = options.fileBytes ?? limits.auditFileBytes
    this.#now = options.now ?? (() => new Date())
  }

  /** Makes the directory, for its owner alone. */
  prepare(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    chmodSync(this.#directory, 0o700)
  }

  /**
   * Writes lines that follow one another.
   *
   * @param entries  members of JSON objects, without braces
   * @returns the sequence of the first one, and the last one
   * @throws  what the system says. None of the lines is there then, and `release` must be awaited
   */
  append(entries: readonly string[]): { readonly first: number; readonly last: Link } {
    if (this.#head?.isInPlace() === false) throw new Error('the audit directory is another one')
    this.#head ??= openHead(this.#directory, 'write')
    const last = this.#head.move((head) => {
      const { head: start, notes } = this.#settled(head)
      return this.#write(start, [...notes, ...entries])
    })
    this.#refused = undefined
    if (this.#mayHaveExpired) this.#removeExpired(last)
    return { first: last.sequence - entries.length + 1, last }
  }

  /** Gives up what is open: the next call of `append` begins anew. */
  async release(): Promise<void> {
    this.#closeFile()
    const head = this.#head
    this.#head = undefined
    await head?.close()
  }

  /** The head after what a dead writer left is settled, and what is to be said of that. */
  #settled(head: Head): { readonly head: Head; readonly notes: readonly string[] } {
    const isLost = head.file > 0 && !this.#isWhole(head)
    // Left as it is, for others to look at.
    if (isLost)
      return { head, notes: [entryOf({ event: 'audit', phase: 'damaged', file: head.file })] }
    if (!this.#hasRemains(head)) return { head, notes: [] }
    this.#closeFile()
    const {
      head: settled,
      takenLineCount,
      cutBytes,
    } = recover(this.#directory, head, this.#refused)
    if (this.#refused !== undefined || takenLineCount + cutBytes === 0) {
      return { head: settled, notes: [] }
    }
    const note = { event: 'audit', phase: 'recovered', takenLineCount, cutBytes } as const
    return { head: settled, notes: [entryOf(note)] }
  }

  #hasRemains(head: Head): boolean {
    const isBehind = head.file > 0 && fstatSync(this.#open(head.file).fd).size > head.bytes
    return isBehind || existsSync(auditPath(this.#directory, head.file + 1))
  }

  /** Only when the head says that they may be missing. */
  #removeExpired({ first }: Head): void {
    this.#mayHaveExpired = false
    if (this.#keepDays === undefined) return
    for (const number of auditFileNumbers(this.#directory)) {
      if (number < first.file) rmSync(auditPath(this.#directory, number), { force: true })
    }
  }

  #write(head: Head, entries: readonly string[]): Head {
    const now = this.#now()
    const lines: string[] = []
    let link: Link = head
    for (const entry of entries) {
      const next = chainedLine(link, now, entry)
      lines.push(next.line, '\n')
      link = next.link
    }
    const bytes = Buffer.from(lines.join(''))
    const place = this.#placeFor(head, bytes.length, now)
    const { fd } = this.#open(place.file)
    try {
      writeAll(fd, bytes, place.bytes)
      this.#sync(fd)
    } catch (fault) {
      this.#refused = place.file
      cutQuietly(fd, place.bytes)
      this.#closeFile()
      throw fault
    }
    return { ...place, ...link, bytes: place.bytes + bytes.length }
  }

  #sync(fd: number): void {
    try {
      fdatasyncSync(fd)
    } catch (fault) {
      this.#isDoubtful = true
      throw fault
    }
  }

  /** Where the next bytes go: into another file when the day is over, or the file is full. */
  #placeFor(head: Head, byteCount: number, now: Date): Head {
    const day = now.toISOString().slice(0, 10)
    const isFull = head.bytes > 0 && head.bytes + byteCount > this.#fileBytes
    const goesOn = head.file > 0 && head.day === day && !isFull && !this.#isDoubtful
    if (goesOn && this.#isWhole(head)) return head
    const number = head.file + 1
    this.#closeFile()
    this.#file = { number, fd: openSync(auditPath(this.#directory, number), 'w', 0o600) }
    syncDirectory(this.#directory)
    this.#isDoubtful = false
    this.#mayHaveExpired = true
    const first = firstKept(this.#directory, head, this.#keepDays, now)
    return { ...head, first, file: number, bytes: 0, day }
  }

  /** Whether the file of the head is there as far as the head says. */
  #isWhole(head: Head): boolean {
    const path = auditPath(this.#directory, head.file)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) return false
    if (this.#file?.number === head.file && fstatSync(this.#file.fd).ino !== found.ino) {
      this.#closeFile()
    }
    return found.size >= head.bytes
  }

  #open(number: FileNumber): OpenFile {
    if (this.#file?.number === number) return this.#file
    this.#closeFile()
    this.#file = { number, fd: openSync(auditPath(this.#directory, number), 'r+') }
    return this.#file
  }

  #closeFile(): void {
    const file = this.#file
    this.#file = undefined
    if (file !== undefined) closeSync(file.fd)
  }
}

interface OpenFile {
  readonly number: FileNumber
  readonly fd: number
}

/** So that nobody finds what was refused. If that fails, it is left out when it is found. */
function cutQuietly(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes)
  } catch {
    // `#refused` says so.
  }
}

/** A file is there for good only once its directory is. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
