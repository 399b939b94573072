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
import { AgreedPart, cutFiles, hasAgreedPart, placeOf, writtenByCluster } from './agreed-part.js'
import type { PreparedBatch } from './batch.js'
import { journalEndsBefore } from './damaged.js'
import { GroupEncoder } from './encode-group.js'
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
import { recoverRecords, wholeGroups } from './remains.js'
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
  /**
   * Whether it writes for a cluster, which the directory then is of: what it writes is seen by readers when it is
   * committed. Not unless given.
   */
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
  readonly #isClustered: boolean
  #store: JournalHeadStore | undefined
  #position: PositionFile | undefined
  /** In a cluster alone. */
  #agreed: AgreedPart | undefined

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
   * @returns what became of each of them, in order
   * @throws  what the system says, or JournalDamaged. None of the batches is there then, and `release` must
   *   be awaited
   * @throws RangeError  for more than `limits.journalGroupBytes`
   */
  append(batches: readonly PreparedBatch[]): BatchOutcome[] {
    if (this.#seen.sequence - this.#indexed.sequence >= this.#unindexedCount) this.index()
    const outcomes = this.#transact((_, head) => {
      const { outcomes, fresh } = this.#sorted(batches, head.sequence)
      this.#write(head, fresh)
      return outcomes
    })
    this.#file.forgetRefused()
    return outcomes
  }

  /**
   * Writes groups of another machine as they are, with one sync.
   *
   * @param groups  whole ones, which go on with the journal
   * @returns the last batch
   * @throws  as `append`
   */
  copy(groups: Buffer): Link {
    if (this.#seen.sequence - this.#indexed.sequence >= this.#unindexedCount) this.index()
    const last = this.#transact((_, head) => {
      const { taken, end } = wholeGroups(groups, head)
      const last = taken.at(-1)
      if (last === undefined || end < groups.length) {
        throw new Error(`the groups do not go on with batch ${head.sequence} of the journal`)
      }
      this.#writeGroups(head, groups, last)
      for (const record of taken) this.#known.add(record)
      return last
    })
    this.#file.forgetRefused()
    return { sequence: last.sequence, hash: last.hash }
  }

  /**
   * Takes batches back on which the cluster did not agree, and which nobody has read.
   *
   * @param sequence  of the last batch that stays
   * @throws JournalDamaged
   */
  async cutBack(sequence: number): Promise<void> {
    this.#transact((_, head) => {
      const agreed = this.#agreed?.place() ?? NO_HEAD
      if (sequence < Math.max(agreed.sequence, this.#indexed.sequence)) {
        throw new Error(`batch ${sequence + 1} is committed, and cannot be taken back`)
      }
      const place = placeOf(this.#directory, sequence, head)
      // First, so that whoever finds more than this finds remains.
      this.#position?.goBack({ ...place, first: head.first })
      this.#file.close()
      cutFiles(this.#directory, place)
    })
    // Their ids are not known any more.
    await this.release()
  }

  /**
   * Lets readers see the groups that end with a batch or before it. Nothing is synced: machines tell each other.
   *
   * @returns the sequence up to which they see now
   */
  commit(sequence: number): number {
    if (this.#agreed === undefined) this.prepare()
    return (this.#agreed as AgreedPart).reach(sequence, this.#seen)
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

  /**
   * Moves the head in LMDB to where the journal ends, and the ids of batches with it. In a cluster, no further than
   * it agrees: what it does not agree on may be taken back.
   */
  index(): void {
    this.#indexed = this.#transact(({ tables, head: before = NO_HEAD, move }, head) => {
      const end = this.#agreed === undefined ? head : { ...this.#agreed.place(), first: head.first }
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
    this.#agreed?.close()
    const store = this.#store
    this.#store = undefined
    this.#position = undefined
    this.#agreed = undefined
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
    if (hasAgreedPart(this.#directory) !== this.#isClustered) {
      throw writtenByCluster(this.#directory, this.#isClustered)
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
    if (indexed.sequence === 0 && head.first.file > 1) throw headLost(this.#directory)
    this.#catchUp(indexed, head, tables.batches)
    const settled = this.#withoutRemains(head)
    if (this.#isClustered) this.#agreed ??= new AgreedPart(this.#directory, settled)
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
    const { bytes, last } = this.#encoder.encode(head, batches, this.#nowMs())
    this.#writeGroups(head, bytes, last)
    for (const [at, { key, digest }] of batches.entries()) {
      this.#known.addKey(head.sequence + at + 1, key, digest)
    }
  }

  #writeGroups(head: JournalHead, bytes: Buffer, { sequence, hash }: Link): void {
    const place = this.#placeFor(head, bytes.length)
    const written = { ...place, sequence, hash, bytes: place.bytes + bytes.length }
    this.#file.append(place, bytes, () => this.#position?.write(written))
    this.#seen = written
    this.#agreed?.note(written)
  }

  /** Where the next bytes go: into another file when this one is full. */
  #placeFor(head: JournalHead, byteCount: number): JournalHead {
    const isFull = head.bytes > 0 && head.bytes + byteCount > this.#fileBytes
    if (head.file > 0 && !isFull && !this.#file.isDoubtful) return head
    const file = head.file + 1
    this.#file.begin(file)
    return { ...head, file, bytes: 0 }
  }
}

function sentAgain(sequence: number, isSame: boolean): BatchOutcome {
  return { kind: isSame ? 'repeated' : 'conflicting', sequence }
}

/** Not behind the head in LMDB, from which writers go on. */
function firstKept(
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
