/**
 * Writes batches of changes to the journal, on disk when `append` returns. Several processes may write to
 * one journal: each group of batches is written under the lock of the head, in this order: the records,
 * their file to disk, the position for readers. What a writer leaves that dies in between is for
 * `remains.ts`.
 *
 * @module
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import type { HeadTable } from '../chain/head-store.js'
import { LastFile, syncDirectory } from '../chain/last-file.js'
import type { Link } from '../chain/link.js'
import { limits } from '../limits.js'
import type { PreparedBatch } from './batch.js'
import { journalEndsBefore } from './damaged.js'
import { journalFileNumbers, journalPath, positionPath } from './files.js'
import {
  firstPlace,
  headLost,
  type JournalHead,
  type JournalHeadStore,
  type JournalPlace,
  NO_HEAD,
  openHead,
} from './head.js'
import { KnownBatches } from './known-batches.js'
import { PositionFile } from './position.js'
import { recordBytes, writeRecord } from './record.js'
import { recoverRecords } from './remains.js'
import { damagedAt, firstRecordOf, recordsBetween } from './walk.js'

/**
 * What became of a batch:
 * - `written`: it is on disk.
 * - `repeated`: it was there already, with this sequence.
 * - `conflicting`: another batch with its id was there already, with this sequence. It is not written.
 */
export interface BatchOutcome {
  readonly kind: 'written' | 'repeated' | 'conflicting'
  readonly sequence: number
}

type Transaction = Parameters<Parameters<JournalHeadStore['transact']>[0]>[0]

/** What a writer found behind the head, and settled. */
export interface Settled {
  readonly takenBatchCount: number
  readonly cutBytes: number
}

interface WriterOptions {
  readonly directory: string
  /** `limits.journalFileBytes` unless given. */
  readonly fileBytes?: number
  /** `limits.journalKnownBatchCount` unless given. */
  readonly knownBatchCount?: number
  /** `limits.journalUnindexedCount` unless given. */
  readonly unindexedCount?: number
  readonly nowMs?: () => number
  /**
   * The last batch that is known to have been written. A journal that ends before it is another one: whatever
   * came into that would be taken for known.
   */
  readonly leastSequence?: () => number
  /** Hears of what a writer left that died. */
  readonly onSettled?: (settled: Settled) => void
}

export class JournalWriter {
  readonly #directory: string
  readonly #fileBytes: number
  readonly #unindexedCount: number
  readonly #nowMs: () => number
  readonly #leastSequence: () => number
  readonly #onSettled: (settled: Settled) => void
  readonly #file: LastFile
  readonly #knownBatchCount: number
  #known: KnownBatches
  /** Up to here the ids of batches are known. */
  #seen: JournalPlace = NO_HEAD
  /** The head in LMDB. */
  #indexed: JournalPlace = NO_HEAD
  #group: Buffer = Buffer.alloc(0)
  #store: JournalHeadStore | undefined
  #position: PositionFile | undefined

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#fileBytes = options.fileBytes ?? limits.journalFileBytes
    this.#knownBatchCount = options.knownBatchCount ?? limits.journalKnownBatchCount
    this.#unindexedCount = options.unindexedCount ?? limits.journalUnindexedCount
    this.#nowMs = options.nowMs ?? Date.now
    this.#leastSequence = options.leastSequence ?? (() => 0)
    this.#onSettled = options.onSettled ?? (() => {})
    this.#file = new LastFile((number) => journalPath(options.directory, number))
    this.#known = new KnownBatches(this.#knownBatchCount)
  }

  /**
   * Makes the journal if there is none, and settles what a dead writer left.
   *
   * @throws JournalDamaged
   */
  prepare(): JournalHead {
    return this.#transact((_, head) => head)
  }

  /**
   * Writes batches as one group with one sync, and makes the journal if there is none.
   *
   * @returns what became of each of them, in order
   * @throws  what the system says, or JournalDamaged. None of the batches is there then, and `release` must
   *   be awaited
   * @throws RangeError  for more than `limits.journalGroupBytes`
   */
  append(batches: readonly PreparedBatch[]): BatchOutcome[] {
    if (this.#seen.sequence - this.#indexed.sequence >= this.#unindexedCount) this.#index()
    const outcomes = this.#transact((_, head) => {
      const { outcomes, fresh } = this.#sorted(batches, head.sequence)
      this.#write(head, fresh)
      return outcomes
    })
    this.#file.forgetRefused()
    return outcomes
  }

  /**
   * Removes the files of which all batches are at or below a sequence, never the newest one.
   *
   * @returns how many were removed
   */
  truncate(upTo: number): number {
    this.#index()
    const first = this.#transact((transaction, head) => {
      const { first } = { ...head, first: firstKept(this.#directory, head, upTo) }
      if (first.file !== head.first.file) transaction.move({ ...head, first })
      return first
    })
    // A second time: only a move that another one follows is there after a power failure.
    this.#transact((transaction, head) => {
      transaction.move({ ...head, first })
      this.#position?.write({ ...head, first })
      this.#position?.sync()
    })
    const old = journalFileNumbers(this.#directory).filter((number) => number < first.file)
    for (const number of old) rmSync(journalPath(this.#directory, number), { force: true })
    if (old.length > 0) syncDirectory(this.#directory)
    return old.length
  }

  /** Gives up what is open: the next call begins anew. */
  async release(): Promise<void> {
    this.#file.close()
    this.#position?.close()
    const store = this.#store
    this.#store = undefined
    this.#position = undefined
    this.#known = new KnownBatches(this.#knownBatchCount)
    this.#seen = NO_HEAD
    this.#indexed = NO_HEAD
    await store?.close()
  }

  /** With the lock, and all that is there settled and known. */
  #transact<R>(work: (transaction: Transaction, head: JournalHead) => R): R {
    if (this.#store?.isInPlace() === false || this.#position?.isInPlace() === false) {
      throw new Error(`the journal ${this.#directory} is another one than before`)
    }
    // Whoever puts it back finds the place free.
    if (!existsSync(this.#directory)) this.#assertReached(NO_HEAD)
    return this.#opened().transact((transaction) => {
      const head = this.#settled(transaction)
      this.#assertReached(head)
      return work(transaction, head)
    })
  }

  #assertReached({ sequence }: JournalHead): void {
    const least = this.#leastSequence()
    if (sequence < least) throw journalEndsBefore(sequence, least)
  }

  #opened(): JournalHeadStore {
    if (this.#store === undefined) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      this.#store = openHead(this.#directory, 'write')
    }
    return this.#store
  }

  /** Where the journal ends, after everybody who wrote before. */
  #settled({ head: indexed = NO_HEAD, tables }: Transaction): JournalHead {
    this.#position ??= PositionFile.openToWrite(positionPath(this.#directory))
    const position = this.#position.read()
    const isPositionLost = position === undefined || position.sequence < indexed.sequence
    let head = isPositionLost ? indexed : position
    if (head.first.file < indexed.first.file) head = { ...head, first: indexed.first }
    if (indexed.sequence === 0 && head.first.file > 1) throw headLost(this.#directory)
    this.#catchUp(indexed, head, tables.batches)
    const settled = this.#withoutRemains(head)
    if (position === undefined || settled.sequence !== position.sequence) {
      this.#position.write(settled)
    }
    this.#seen = settled
    return settled
  }

  /** Learns the ids of batches that others wrote. */
  #catchUp(indexed: JournalHead, head: JournalHead, batches: HeadTable): void {
    this.#indexed = indexed
    if (this.#seen.sequence < indexed.sequence) {
      this.#known.load(batches, this.#seen.sequence)
      this.#seen = indexed
    }
    // A batch is on its way to this process and gone from the disk.
    if (this.#seen.sequence > head.sequence) {
      throw damagedAt(this.#directory, head, 'is missing: it was there before')
    }
    for (const { record, place } of recordsBetween(this.#directory, this.#seen, head)) {
      this.#known.add(record)
      this.#seen = place
    }
    if (head.file === 0 || this.#file.isWhole(head)) return
    // The walk says which batch it is.
    for (const _ of recordsBetween(this.#directory, firstPlace(head), head));
    throw damagedAt(this.#directory, head, 'is missing with its file')
  }

  #withoutRemains(head: JournalHead): JournalHead {
    if (!this.#file.hasRemains(head)) return head
    this.#file.close()
    const {
      head: recovered,
      taken,
      cutBytes,
    } = recoverRecords(this.#directory, head, this.#file.refused)
    for (const record of taken) this.#known.add(record)
    if (taken.length + cutBytes > 0) this.#onSettled({ takenBatchCount: taken.length, cutBytes })
    return recovered
  }

  /** What is to become of the batches; of several new ones with the same id the first is written. */
  #sorted(batches: readonly PreparedBatch[], last: number) {
    const fresh: PreparedBatch[] = []
    const here = new Map<string, { readonly sequence: number; readonly digest: Uint8Array }>()
    const outcomes = batches.map((batch): BatchOutcome => {
      const { key, digest } = batch
      const known = this.#known.find(key)
      if (known !== undefined) return sentAgain(known, this.#known.hasDigest(known, digest))
      const twin = here.get(key)
      if (twin !== undefined) {
        return sentAgain(twin.sequence, Buffer.compare(twin.digest, digest) === 0)
      }
      fresh.push(batch)
      const sequence = last + fresh.length
      here.set(key, { sequence, digest })
      return { kind: 'written', sequence }
    })
    return { outcomes, fresh }
  }

  #write(head: JournalHead, batches: readonly PreparedBatch[]): void {
    if (batches.length === 0) return
    const { bytes, last } = this.#encoded(head, batches)
    const place = this.#placeFor(head, bytes.length)
    const { sequence, hash } = last
    const written = { ...place, sequence, hash, bytes: place.bytes + bytes.length }
    this.#file.append(place, bytes, () => this.#position?.write(written))
    for (const [at, { key, digest }] of batches.entries()) {
      this.#known.addKey(head.sequence + at + 1, key, digest)
    }
    this.#seen = written
  }

  /** A group, in memory that the next one may take. */
  #encoded(head: JournalHead, batches: readonly PreparedBatch[]) {
    const byteCount = batches.reduce((sum, batch) => sum + recordBytes(batch), 0)
    if (byteCount > limits.journalGroupBytes) {
      throw new RangeError(
        `a group of batches may take ${limits.journalGroupBytes} bytes, and this takes ${byteCount}`,
      )
    }
    if (this.#group.length < byteCount) this.#group = Buffer.allocUnsafeSlow(2 * byteCount)
    const bytes = this.#group.subarray(0, byteCount)
    const timeMs = this.#nowMs()
    const groupCount = batches.length
    let last: Link = head
    let end = 0
    for (const [groupIndex, batch] of batches.entries()) {
      const start = end
      end += recordBytes(batch)
      const { sourceId, batchId, changeCount, content, digest } = batch
      const body = {
        sourceId,
        batchId,
        changeCount,
        content,
        digest,
        groupIndex,
        groupCount,
        timeMs,
      }
      last = writeRecord(bytes, [start, end], last, body)
    }
    return { bytes, last }
  }

  /** Where the next bytes go: into another file when this one is full. */
  #placeFor(head: JournalHead, byteCount: number): JournalHead {
    const isFull = head.bytes > 0 && head.bytes + byteCount > this.#fileBytes
    if (head.file > 0 && !isFull && !this.#file.isDoubtful) return head
    const file = head.file + 1
    this.#file.begin(file)
    return { ...head, file, bytes: 0 }
  }

  /** Moves the head in LMDB to where the journal ends, and the ids of batches with it. */
  #index(): void {
    this.#indexed = this.#transact(({ tables, head: { sequence } = NO_HEAD, move }, head) => {
      this.#known.index(tables.batches, sequence, head.sequence)
      move(head)
      return head
    })
  }
}

function sentAgain(sequence: number, isSame: boolean): BatchOutcome {
  return { kind: isSame ? 'repeated' : 'conflicting', sequence }
}

function firstKept(directory: string, head: JournalHead, upTo: number): JournalHead['first'] {
  let { first } = head
  while (first.file < head.file) {
    const next = firstRecordOf(directory, first.file + 1)
    if (next === undefined || next.sequence > upTo + 1) break
    const after = { sequence: next.sequence - 1, hash: next.previous }
    first = { file: first.file + 1, after }
  }
  return first
}
