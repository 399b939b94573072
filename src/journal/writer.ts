/**
 * Writes batches of changes to the journal, on disk when `append` returns. Several processes may write to
 * one journal: each group of batches is written under the lock of the head, in this order: the records,
 * their file to disk, the position for readers. What a writer leaves that dies in between is for
 * `remains.ts`.
 *
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { LastFile, syncDirectory } from '../chain/last-file.js'
import type { Link } from '../chain/link.js'
import { limits } from '../limits.js'
import type { PreparedBatch } from './batch.js'
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
import { batchKey, type KnownBatch, KnownBatches } from './known-batches.js'
import { PositionFile } from './position.js'
import { encodeRecord } from './record.js'
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
  /** Hears of what a writer left that died. */
  readonly onSettled?: (settled: Settled) => void
}

export class JournalWriter {
  readonly #directory: string
  readonly #fileBytes: number
  readonly #unindexedCount: number
  readonly #nowMs: () => number
  readonly #onSettled: (settled: Settled) => void
  readonly #file: LastFile
  readonly #knownBatchCount: number
  #known: KnownBatches
  /** Up to here the ids of batches are known. */
  #seen: JournalPlace = NO_HEAD
  #store: JournalHeadStore | undefined
  #position: PositionFile | undefined

  constructor(options: WriterOptions) {
    this.#directory = options.directory
    this.#fileBytes = options.fileBytes ?? limits.journalFileBytes
    this.#knownBatchCount = options.knownBatchCount ?? limits.journalKnownBatchCount
    this.#unindexedCount = options.unindexedCount ?? limits.journalUnindexedCount
    this.#nowMs = options.nowMs ?? Date.now
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
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    return this.#transact((_, head) => head)
  }

  /**
   * Writes batches as one group with one sync.
   *
   * @returns what became of each of them, in order
   * @throws  what the system says, or JournalDamaged. None of the batches is there then, and `release` must
   *   be awaited
   * @throws RangeError  for more than `limits.journalGroupBytes`
   */
  append(batches: readonly PreparedBatch[]): BatchOutcome[] {
    if (this.#known.newestCount >= this.#unindexedCount) this.#index()
    const outcomes = this.#transact(({ tables }, head) => {
      const { outcomes, fresh } = this.#sorted(batches, (key) =>
        this.#known.find(key, tables, head.sequence),
      )
      this.#write(head, fresh)
      return outcomes.map(({ kind, after, sequence }) => ({
        kind,
        sequence: after === undefined ? sequence : head.sequence + after,
      }))
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
    await store?.close()
  }

  /** With the lock, and all that is there settled and known. */
  #transact<R>(
    work: (
      transaction: Parameters<Parameters<JournalHeadStore['transact']>[0]>[0],
      head: JournalHead,
    ) => R,
  ): R {
    if (this.#store?.isInPlace() === false || this.#position?.isInPlace() === false) {
      throw new Error(`the journal ${this.#directory} is another one than before`)
    }
    this.#store ??= openHead(this.#directory, 'write')
    return this.#store.transact((transaction) =>
      work(transaction, this.#settled(transaction.head ?? NO_HEAD)),
    )
  }

  /** Where the journal ends, after everybody who wrote before. */
  #settled(indexed: JournalHead): JournalHead {
    this.#position ??= PositionFile.openToWrite(positionPath(this.#directory))
    const position = this.#position.read()
    const isPositionLost = position === undefined || position.sequence < indexed.sequence
    let head = isPositionLost ? indexed : position
    if (head.first.file < indexed.first.file) head = { ...head, first: indexed.first }
    if (indexed.sequence === 0 && head.first.file > 1) throw headLost(this.#directory)
    this.#catchUp(indexed, head)
    const settled = this.#withoutRemains(head)
    if (position === undefined || settled.sequence !== position.sequence) {
      this.#position.write(settled)
    }
    this.#seen = settled
    return settled
  }

  /** Learns the ids of batches that others wrote. */
  #catchUp(indexed: JournalHead, head: JournalHead): void {
    this.#known.forgetNewest(indexed.sequence)
    if (this.#seen.sequence < indexed.sequence) this.#seen = indexed
    // A batch is on its way to this process and gone from the disk.
    if (this.#seen.sequence > head.sequence) {
      throw damagedAt(this.#directory, head, 'is missing: it was there before')
    }
    for (const { record, place } of recordsBetween(this.#directory, this.#seen, head)) {
      this.#known.add(batchKey(record.sourceId, record.batchId), record)
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
    for (const { sourceId, batchId, sequence, digest } of taken) {
      this.#known.add(batchKey(sourceId, batchId), { sequence, digest })
    }
    if (taken.length + cutBytes > 0) this.#onSettled({ takenBatchCount: taken.length, cutBytes })
    return recovered
  }

  /** Which of the batches are new; of several with the same id it is the first one. */
  #sorted(
    batches: readonly PreparedBatch[],
    find: (key: Uint8Array) => KnownBatch | undefined,
  ): { readonly outcomes: readonly SortedOutcome[]; readonly fresh: readonly PreparedBatch[] } {
    const fresh: PreparedBatch[] = []
    const here = new Map<string, { readonly after: number; readonly digest: Uint8Array }>()
    const outcomes = batches.map((batch): SortedOutcome => {
      const key = batchKey(batch.sourceId, batch.batchId)
      const name = `${batch.sourceId}\0${batch.batchId}`
      const known = find(key)
      const twin = here.get(name)
      const before = known ?? twin
      if (before !== undefined) {
        const isSame = Buffer.compare(before.digest, batch.digest) === 0
        const sequence = known?.sequence ?? 0
        return { kind: isSame ? 'repeated' : 'conflicting', after: twin?.after, sequence }
      }
      fresh.push(batch)
      here.set(name, { after: fresh.length, digest: batch.digest })
      return { kind: 'written', after: fresh.length, sequence: 0 }
    })
    return { outcomes, fresh }
  }

  #write(head: JournalHead, batches: readonly PreparedBatch[]): void {
    if (batches.length === 0) return
    const timeMs = this.#nowMs()
    const groupCount = batches.length
    const records: Buffer[] = []
    let link: Link = head
    for (const [groupIndex, batch] of batches.entries()) {
      const next = encodeRecord(link, { ...batch, groupIndex, groupCount, timeMs })
      records.push(next.bytes)
      link = next.link
    }
    const bytes = Buffer.concat(records)
    if (bytes.length > limits.journalGroupBytes) {
      throw new RangeError(
        `a group of batches may take ${limits.journalGroupBytes} bytes, and this takes ${bytes.length}`,
      )
    }
    const place = this.#placeFor(head, bytes.length)
    const { sequence, hash } = link
    const written = { ...place, sequence, hash, bytes: place.bytes + bytes.length }
    this.#file.append(place, bytes, () => this.#position?.write(written))
    for (const [at, { sourceId, batchId, digest }] of batches.entries()) {
      this.#known.add(batchKey(sourceId, batchId), { sequence: head.sequence + at + 1, digest })
    }
    this.#seen = written
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
    const sequence = this.#transact(({ tables, move }, head) => {
      this.#known.index(tables)
      move(head)
      return head.sequence
    })
    this.#known.forgetNewest(sequence)
  }
}

interface SortedOutcome {
  readonly kind: BatchOutcome['kind']
  /** How many new batches there are in the group up to this one, where it is of this group. */
  readonly after: number | undefined
  /** Where it was known before. */
  readonly sequence: number
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
