/**
 * Writes batches of changes to the journal, on disk when `append` returns. Several processes may write to
 * one journal: each group of batches is written under the lock of the head, in this order: the records,
 * their file to disk, the position for readers. What a writer leaves that dies in between is for
 * `remains.ts`.
 *
 * @module
 */
import { existsSync, rmSync } from 'node:fs'
import type { HeadTable } from '../chain/head-store.js'
import { LastFile } from '../chain/last-file.js'
import type { Link } from '../chain/link.js'
import { createDirectorySync, syncDirectorySync } from '../durable-files.js'
import { limits } from '../limits.js'
import type { PreparedBatch } from './batch.js'
import { journalEndsBefore, LogContradicted, writtenByCluster } from './damaged.js'
import { GroupEncoder } from './encode-group.js'
import { journalFileNumbers, journalPath, positionPath } from './files.js'
import {
  type Decided,
  firstPlace,
  headLost,
  type JournalHead,
  type JournalHeadStore,
  type JournalPlace,
  type LogPlace,
  NO_HEAD,
  openHead,
} from './head.js'
import { KnownBatches } from './known-batches.js'
import { type BatchOutcome, sortedBatches } from './outcomes.js'
import { PositionFile } from './position.js'
import type { JournalRecord } from './record.js'
import { groupEnds, recoverRecords, wholeGroups } from './remains.js'
import { damagedAt, firstKept, recordsBetween } from './walk.js'

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
  /** Whether the directory is of a cluster: this is its only writer, and writes what the log of all machines says. */
  readonly isClustered?: boolean
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
  readonly #encoder = new GroupEncoder()
  #isClustered: boolean
  #store: JournalHeadStore | undefined
  #position: PositionFile | undefined
  /** In a cluster: the groups behind the head, which the log says once more; undefined before they are looked for. */
  #expected: JournalPlace[] | undefined

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#fileBytes = options.fileBytes ?? limits.journalFileBytes
    this.#knownBatchCount = options.knownBatchCount ?? limits.journalKnownBatchCount
    this.#unindexedCount = options.unindexedCount ?? limits.journalUnindexedCount
    this.#nowMs = options.nowMs ?? Date.now
    this.#leastSequence = options.leastSequence ?? (() => 0)
    this.#onSettled = options.onSettled ?? (() => {})
    this.#isClustered = options.isClustered ?? false
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
   * @param decided  in a cluster
   * @returns what became of each of them, in order
   * @throws  what the system says, or JournalDamaged. None of the batches is there then, and `release` must
   *   be awaited
   * @throws UnstorableBatch  for more than `limits.journalGroupBytes`
   * @throws LogContradicted
   */
  append(batches: readonly PreparedBatch[], decided?: Decided): BatchOutcome[] {
    if (this.#seen.sequence - this.#indexed.sequence >= this.#unindexedCount) this.index()
    const outcomes = this.#transact((_, head) => {
      const { outcomes, fresh } = sortedBatches(batches, this.#known, head.sequence)
      const { log, timeMs } = decided ?? { log: undefined, timeMs: this.#nowMs() }
      this.#write({ ...head, log }, fresh, timeMs)
      return outcomes
    })
    this.#file.forgetRefused()
    return outcomes
  }

  /**
   * Writes groups of another machine of the cluster as they are.
   *
   * @param groups  whole ones, which go on with the journal
   * @param log  the place of the last one, as far as that machine knows it
   * @returns the last batch
   * @throws  as `append`
   */
  copy(groups: Buffer, log: LogPlace): Link {
    if (this.#seen.sequence - this.#indexed.sequence >= this.#unindexedCount) this.index()
    const last = this.#transact((_, head) => {
      const { taken, end } = wholeGroups(groups, head)
      const last = taken.at(-1)
      if (last === undefined || end < groups.length) {
        throw new Error(`the groups do not go on with batch ${head.sequence} of the journal`)
      }
      this.#copy({ ...head, log }, groups, taken)
      for (const record of taken) this.#known.add(record)
      return last
    })
    this.#file.forgetRefused()
    return { sequence: last.sequence, hash: last.hash }
  }

  /** In a cluster: the last batch that is on disk here, which the log may not have said again yet. */
  lastKept(): Link {
    const { sequence, hash } = this.#transact((_, head) => this.#expected?.at(-1) ?? head)
    return { sequence, hash }
  }

  /**
   * Takes what is on disk without hearing of it from the log once more, which says it no more.
   *
   * @returns the last batch
   */
  takeKept(): Link {
    return this.#transact((_, head) => {
      const end = this.#expected?.at(-1)
      if (end === undefined) return head
      for (const { record } of recordsBetween(this.#directory, head, end)) this.#known.add(record)
      this.#expected = []
      const { generation } = head.log as LogPlace
      this.#seen = end
      this.#position?.write({ ...end, first: head.first, log: { generation } })
      return end
    })
  }

  /**
   * Makes the journal that of a cluster, of another log of it, or of none. It is on disk then.
   *
   * @param log  undefined of none: what the log has not said again is taken then, too
   * @returns the last batch
   */
  setLog(log: LogPlace | undefined): Link {
    const set = ({ tables, head: before = NO_HEAD, move }: Transaction, head: JournalHead) => {
      const end = { ...head, log }
      if (end.sequence > before.sequence) {
        this.#known.index(tables.batches, before.sequence, end.sequence)
      }
      move(end)
      this.#position?.goBack(end)
      this.#indexed = end
      return end
    }
    this.#transact(set)
    this.#isClustered = log !== undefined
    // A second time: only a move that another one follows is there after a power failure.
    const { sequence, hash } = this.#transact(set)
    return { sequence, hash }
  }

  /** In a cluster: so that the log need not say again what came before, after a power failure. */
  syncPosition(log: LogPlace): void {
    this.#transact((_, head) => this.#position?.write({ ...head, log }))
    this.#position?.sync()
  }

  /**
   * Removes the files of which all batches are at or below a sequence, never the newest one.
   *
   * @returns how many were removed
   */
  truncate(upTo: number): number {
    this.index()
    // Where the head in LMDB ends stays as it is.
    const move = (transaction: Transaction, first: JournalHead['first']) =>
      transaction.move({ ...(transaction.head ?? NO_HEAD), first })
    const first = this.#transact((transaction, head) => {
      const first = firstKept(this.#directory, head, { ...this.#indexed, upTo })
      if (first.file !== head.first.file) move(transaction, first)
      return first
    })
    // A second time: only a move that another one follows is there after a power failure.
    this.#transact((transaction, head) => {
      move(transaction, first)
      this.#position?.write({ ...head, first })
      this.#position?.sync()
    })
    const old = journalFileNumbers(this.#directory).filter((number) => number < first.file)
    for (const number of old) rmSync(journalPath(this.#directory, number), { force: true })
    if (old.length > 0) syncDirectorySync(this.#directory)
    return old.length
  }

  /** Moves the head in LMDB to where the journal ends, and the ids of batches with it. */
  index(): void {
    this.#indexed = this.#transact(({ tables, head: before = NO_HEAD, move }, end) => {
      if (end.sequence <= before.sequence) return before
      this.#known.index(tables.batches, before.sequence, end.sequence)
      move(end)
      return end
    })
  }

  /** Gives up what is open: the next call begins anew. */
  async release(): Promise<void> {
    this.#file.close()
    this.#position?.close()
    const store = this.#store
    this.#store = undefined
    this.#position = undefined
    this.#expected = undefined
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
      createDirectorySync(this.#directory)
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
    if ((head.log !== undefined) !== this.#isClustered) {
      throw writtenByCluster(this.#directory, this.#isClustered)
    }
    if (indexed.sequence === 0 && head.first.file > 1) throw headLost(this.#directory)
    this.#catchUp(indexed, head, tables.batches)
    const settled = this.#isClustered ? head : this.#withoutRemains(head)
    if (this.#isClustered) this.#expected ??= groupEnds(this.#directory, head)
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

  #write(head: JournalHead, batches: readonly PreparedBatch[], timeMs: number): void {
    if (batches.length === 0) return
    const { bytes, last } = this.#encoder.encode(head, batches, timeMs)
    this.#writeGroups(head, bytes, last)
    for (const [at, { key, digest }] of batches.entries()) {
      this.#known.addKey(head.sequence + at + 1, key, digest)
    }
  }

  /** One by one, where some of them may be there: only the last one reaches the place in the log. */
  #copy(head: JournalHead, groups: Buffer, records: readonly JournalRecord[]): void {
    if (this.#expected?.length === 0) {
      this.#writeGroups(head, groups, records.at(-1) as Link)
      return
    }
    const { generation } = head.log as LogPlace
    let start = 0
    let end = 0
    for (const [at, record] of records.entries()) {
      end += record.length
      if (record.groupIndex + 1 < record.groupCount) continue
      const log = at + 1 === records.length ? head.log : { generation }
      const from = { ...head, ...this.#seen, log }
      this.#writeGroups(from, groups.subarray(start, end), record)
      start = end
    }
  }

  #writeGroups(head: JournalHead, bytes: Buffer, { sequence, hash }: Link): void {
    if (this.#isExpected(head, { sequence, hash })) return
    const place = this.#placeFor(head, bytes.length)
    const written = { ...place, sequence, hash, bytes: place.bytes + bytes.length }
    this.#file.append(place, bytes, () => this.#position?.write(written))
    this.#seen = written
  }

  /** Whether the group is on disk, since its position was lost with the power: it is not written again. */
  #isExpected(head: JournalHead, last: Link): boolean {
    const next = this.#expected?.shift()
    if (next === undefined) return false
    if (next.sequence !== last.sequence || next.hash !== last.hash) {
      this.#expected?.unshift(next)
      throw new LogContradicted(head.sequence + 1)
    }
    this.#position?.write({ ...head, ...next })
    this.#seen = next
    return true
  }

  /** Where the next bytes go: into another file when this one is full. */
  #placeFor(head: JournalHead, byteCount: number): JournalHead {
    const isFull = head.bytes > 0 && head.bytes + byteCount > this.#fileBytes
    if (head.file > 0 && !isFull && !this.#file.isDoubtful) return head
    const file = head.file + 1
    // A torn group may be there, whose records would be taken for the next ones.
    if (this.#isClustered && head.file > 0) this.#file.cut(head)
    this.#file.begin(file)
    return { ...head, file, bytes: 0 }
  }
}
