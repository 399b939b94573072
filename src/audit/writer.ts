/**
 * Writes lines to an audit directory, on disk when `append` returns. Several processes may write to one
 * directory: each group of lines is written under the lock of the head, in this order: the lines, their
 * file to disk, the head. The next writer takes the lines of one that died, or lost power, before the head was
 * moved, or was moved for good.
 *
 * @module
 */
import { chmodSync, closeSync, openSync, readSync, rmSync } from 'node:fs'
import type { HeadStore } from '../chain/head-store.js'
import { type Continuation, LastFile, recover } from '../chain/last-file.js'
import type { FileNumber, Link } from '../chain/link.js'
import { createDirectorySync } from '../durable-files.js'
import { limits } from '../limits.js'
import { auditFileNumbers, auditPath, type Head, NO_HEAD, openHead } from './directory.js'
import { chainedLine, completeLines, entryOf, follows, hashOf, previousOf } from './entry.js'

interface WriterOptions {
  readonly directory: string
  /** Files without a younger line are removed; undefined keeps them for ever. */
  readonly keepDays?: number | undefined
}

export class AuditWriter {
  readonly #directory: string
  readonly #keepDays: number | undefined
  readonly #file: LastFile
  #head: HeadStore<Head> | undefined
  #mayHaveExpired = false

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#file = new LastFile((number) => auditPath(options.directory, number))
    this.#keepDays = options.keepDays
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

  /** The head with what a dead writer left, and lines that report it. */
  #settled(head: Head): { readonly head: Head; readonly notes: readonly string[] } {
    const isLost = head.file > 0 && !this.#file.isWhole(head)
    // The file stays as it is, to be examined.
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
    const now = new Date(Date.now())
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
    const isFull = head.bytes > 0 && head.bytes + byteCount > limits.auditFileBytes
    const goesOn = head.file > 0 && head.day === day && !isFull && !this.#file.isDoubtful
    if (goesOn && this.#file.isWhole(head)) return head
    const number = head.file + 1
    this.#file.begin(number)
    this.#mayHaveExpired = true
    const first = firstKept(this.#directory, head, this.#keepDays, now)
    return { ...head, first, file: number, bytes: 0, day }
  }
}

interface RecoveredLines {
  readonly head: Head
  readonly takenLineCount: number
  /** The bytes of a line that was torn, or does not continue the chain. */
  readonly cutBytes: number
}

/**
 * Takes the lines that continue the chain, and cuts off what comes then in the file of the head.
 *
 * @param refused  the file in which a write of this process failed
 */
function recoverLines(
  directory: string,
  head: Head,
  refused: FileNumber | undefined,
): RecoveredLines {
  let link: Link = head
  let { day } = head
  const { end, taken, cutBytes } = recover<Link>(head, {
    pathOf: (number) => auditPath(directory, number),
    continuationIn(bytes, _file, start) {
      const found = continuationOf(bytes, link)
      link = found.taken.at(-1) ?? link
      if (start === 0 && found.taken.length > 0) day = dayOf(bytes)
      return found
    },
    refused,
  })
  const { sequence, hash } = link
  const recovered = { ...head, ...end, sequence, hash, day }
  return { head: recovered, takenLineCount: taken.length, cutBytes }
}

/** The lines that continue the chain, and where they end. */
function continuationOf(bytes: Uint8Array, head: Link): Continuation<Link> {
  const taken: Link[] = []
  let end = 0
  for (const line of completeLines(bytes).lines) {
    const previous = taken.at(-1) ?? head
    if (!follows(line, previous)) break
    taken.push({ sequence: previous.sequence + 1, hash: hashOf(line) })
    end += line.length + 1
  }
  return { taken, end }
}

/** The day of the first line, on which the file was begun. */
function dayOf(bytes: Buffer): string {
  const start = bytes.subarray(0, 256).toString('latin1')
  return previousOf(bytes) === undefined ? '' : (/"time":"(\d{4}-\d\d-\d\d)/.exec(start)?.[1] ?? '')
}

/**
 * The first file to keep, and the line before it.
 *
 * @param keepDays  undefined keeps all
 */
function firstKept(
  directory: string,
  head: Head,
  keepDays: number | undefined,
  now: Date,
): Head['first'] {
  let { first } = head
  if (keepDays === undefined) return first
  const since = new Date(now.getTime() - keepDays * DAY_MS).toISOString()
  // All of a file is older than the first line of the next one, which also names its last line.
  while (first.file < head.file) {
    const next = firstLine(directory, first.file + 1)
    const after = previousOf(next)
    const time = TIME.exec(next.toString('latin1'))?.[1]
    if (after === undefined || time === undefined || time >= since) break
    first = { file: first.file + 1, after }
  }
  return first
}

/** As much of it as is needed; nothing if it cannot be read. */
function firstLine(directory: string, file: FileNumber): Buffer {
  const bytes = Buffer.alloc(FIRST_BYTES)
  try {
    const fd = openSync(auditPath(directory, file), 'r')
    try {
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
    } finally {
      closeSync(fd)
    }
  } catch {
    // `hickory audit verify` reports damage.
    return Buffer.alloc(0)
  }
}

const TIME = /,"time":"([^"]+)"/
const FIRST_BYTES = 256
const DAY_MS = 86_400_000
