/**
 * Writes lines to an audit directory, on disk when `append` returns. Several processes may write to one
 * directory: each group of lines is written under the lock of the head, in this order: the lines, their
 * file to disk, the head. What a writer leaves that dies in between is for `remains.ts`.
 *
 * @module
 */
import { chmodSync, rmSync } from 'node:fs'
import type { HeadStore } from '../chain/head-store.js'
import { LastFile } from '../chain/last-file.js'
import type { Link } from '../chain/link.js'
import { createDirectorySync } from '../durable-files.js'
import { limits } from '../limits.js'
import { chainedLine } from './chain.js'
import { entryOf } from './entry.js'
import { auditFileNumbers, auditPath } from './files.js'
import { type Head, NO_HEAD, openHead } from './head.js'
import { recoverLines } from './remains.js'
import { firstKept } from './retention.js'

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
  readonly #file: LastFile
  #head: HeadStore<Head> | undefined
  #mayHaveExpired = false

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#file = new LastFile((number) => auditPath(options.directory, number))
    this.#keepDays = options.keepDays
    this.#fileBytes = options.fileBytes ?? limits.auditFileBytes
    this.#now = options.now ?? (() => new Date())
  }

  /** Makes the directory, for its owner alone. */
  prepare(): void {
    createDirectorySync(this.#directory)
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
    const last = this.#head.transact(({ head = NO_HEAD, move }) => {
      const { head: start, notes } = this.#settled(head)
      const written = this.#write(start, [...notes, ...entries])
      move(written)
      return written
    })
    this.#file.forgetRefused()
    if (this.#mayHaveExpired) this.#removeExpired(last)
    return { first: last.sequence - entries.length + 1, last }
  }

  /** Gives up what is open: the next call of `append` begins anew. */
  async release(): Promise<void> {
    this.#file.close()
    const head = this.#head
    this.#head = undefined
    await head?.close()
  }

  /** The head after what a dead writer left is settled, and what is to be said of that. */
  #settled(head: Head): { readonly head: Head; readonly notes: readonly string[] } {
    const isLost = head.file > 0 && !this.#file.isWhole(head)
    // Left as it is, for others to look at.
    if (isLost)
      return { head, notes: [entryOf({ event: 'audit', phase: 'damaged', file: head.file })] }
    if (!this.#file.hasRemains(head)) return { head, notes: [] }
    this.#file.close()
    const { refused } = this.#file
    const recovered = recoverLines(this.#directory, head, refused)
    const { head: settled, takenLineCount, cutBytes } = recovered
    if (refused !== undefined || takenLineCount + cutBytes === 0) {
      return { head: settled, notes: [] }
    }
    const note = { event: 'audit', phase: 'recovered', takenLineCount, cutBytes } as const
    return { head: settled, notes: [entryOf(note)] }
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
    this.#file.append(place, bytes)
    return { ...place, ...link, bytes: place.bytes + bytes.length }
  }

  /** Where the next bytes go: into another file when the day is over, or the file is full. */
  #placeFor(head: Head, byteCount: number, now: Date): Head {
    const day = now.toISOString().slice(0, 10)
    const isFull = head.bytes > 0 && head.bytes + byteCount > this.#fileBytes
    const goesOn = head.file > 0 && head.day === day && !isFull && !this.#file.isDoubtful
    if (goesOn && this.#file.isWhole(head)) return head
    const number = head.file + 1
    this.#file.begin(number)
    this.#mayHaveExpired = true
    const first = firstKept(this.#directory, head, this.#keepDays, now)
    return { ...head, first, file: number, bytes: 0, day }
  }
}
