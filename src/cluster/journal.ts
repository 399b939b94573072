/**
 * The journal of a machine: what the log of all machines says, on the disk of this one. The thread of a cluster is the only
 * writer of it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../chain/link.js'
import { prepared, type SentBatch, UnstorableBatch } from '../journal/batch.js'
import { hasOldFiles } from '../journal/cut.js'
import { JournalDamaged, JournalGone, LogContradicted } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { type Groups, groupsBehind, recordsOfGroups } from '../journal/groups.js'
import type { Decided, LogPlace } from '../journal/head.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { JournalReader } from '../journal/reader.js'
import { ENTRY_SOURCE } from '../journal/record.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { appliedSequenceOf } from '../snapshot/applied-sequence.js'
import { readCurrent } from '../snapshot/directory.js'
import { readIdentities } from '../snapshot/identities/list.js'
import { Facts, type KnownFacts } from './facts.js'
import type { DecidedGroup, DecidedJournal } from './log/machine-log.js'

interface JournalOptions {
  readonly directory: string
  /** `limits.journalFileBytes` by default. */
  readonly fileBytes?: number
  /** What was kept beside it. */
  readonly known: KnownFacts
  /** Nothing can be written, and why; undefined when it can be again. */
  readonly onFailure: (reason: string | undefined) => void
  /** There is more in it. */
  readonly onWritten: () => void
  /** It cannot go on. */
  readonly onOver: (fault: JournalDamaged | LogContradicted) => void
}

export class ClusterJournal implements DecidedJournal {
  readonly facts: Facts
  readonly #options: JournalOptions
  readonly #writer: JournalWriter
  readonly #reader: JournalReader
  /** Of the last records, by sequence, in order. */
  readonly #hashes = new Map<number, string>()
  #log: LogPlace
  #last: Link
  /** What was on disk at the start. */
  readonly #kept: Link
  #failure: string | undefined
  #isPositionDue = false
  #isOver = false

  /** @throws JournalDamaged */
  constructor(options: JournalOptions) {
    const { directory, known } = options
    this.#options = options
    this.#writer = new JournalWriter({
      directory,
      ...(options.fileBytes !== undefined && { fileBytes: options.fileBytes }),
      isClustered: true,
    })
    this.#reader = new JournalReader(directory)
    const { sequence, hash, log } = this.#writer.prepare()
    this.#log = log as LogPlace
    this.#last = { sequence, hash }
    this.#kept = this.#writer.lastKept()
    this.facts = new Facts(known, monotonicMs)
    this.facts.pass(Math.max(known.sequence, this.beginning.sequence))
    this.#read()
  }

  get generation(): string {
    return this.#log.generation
  }

  /** Undefined while it is copied from another machine. */
  get logPlace(): number | undefined {
    return this.#log.place
  }

  /** To be asked where there is a place. */
  get place(): number {
    return this.#log.place ?? 0
  }

  get last(): Link {
    return this.#last
  }

  /** The last batch that is on disk, which the log may not have said again since the power failed. */
  get kept(): Link {
    return this.#kept.sequence > this.#last.sequence ? this.#kept : this.#last
  }

  /** Before the first batch that is kept. */
  get beginning(): Link {
    const { sequence, hash } = this.#reader.head().first.after
    return { sequence, hash }
  }

  /** Why nothing can be written. */
  get failure(): string | undefined {
    return this.#failure
  }

  async append({ place, timeMs, batches }: DecidedGroup): Promise<readonly BatchOutcome[]> {
    const log = { generation: this.generation, place }
    const outcomes = await this.#untilWritten(() => this.#appended(batches, { log, timeMs }))
    this.#log = log
    this.#wrote()
    return outcomes
  }

  get digest(): string | undefined {
    return this.#log.digest
  }

  pass(place: number, digest: string): void {
    if (this.#log.place === undefined || place < this.#log.place) return
    this.#log = { generation: this.generation, place, digest }
    this.#isPositionDue = true
  }

  /**
   * Takes groups of another machine.
   *
   * @param log  the place of the last one; without one, more are to come
   * @throws  as a rejection, where they do not go on with what is here, or are not as they were written
   */
  async copy(groups: Buffer, log: LogPlace): Promise<void> {
    if (recordsOfGroups({ previous: this.#last, bytes: groups }) === undefined) {
      throw new Error(`the groups do not go on with batch ${this.#last.sequence}`)
    }
    if (groups.length > 0) await this.#untilWritten(() => this.#writer.copy(groups, log))
    else await this.#untilWritten(() => this.#writer.setLog(log))
    this.#log = log
    this.#wrote()
  }

  /** Goes on with another log, with all that is on disk. */
  async goOnWith(log: LogPlace): Promise<void> {
    await this.#untilWritten(() => {
      this.#writer.takeKept()
      this.#writer.setLog(log)
    })
    this.#log = log
    this.#wrote()
  }

  hashAt(sequence: number): string | undefined {
    return this.linkAt(sequence)?.hash
  }

  /** Undefined where it is kept no more, or is not there yet. */
  linkAt(sequence: number): Link | undefined {
    if (sequence > this.#last.sequence) return undefined
    if (sequence === this.#last.sequence) return this.#last
    const hash = this.#hashes.get(sequence)
    return hash === undefined ? this.#linkOnDisk(sequence) : { sequence, hash }
  }

  #linkOnDisk(sequence: number): Link | undefined {
    const { first, sequence: end } = this.#reader.head()
    if (sequence === first.after.sequence) return first.after
    // It ends before where its directory was removed, which is noticed a moment later.
    if (sequence < first.after.sequence || sequence > end) return undefined
    try {
      for (const { hash } of this.#reader.records(sequence - 1)) return { sequence, hash }
    } catch (fault) {
      if (!(fault instanceof JournalGone)) throw fault
    }
    return undefined
  }

  /** As much as is sent at once; undefined where there is nothing behind. */
  groupsBehind(sequence: number): Groups | undefined {
    if (sequence >= this.#last.sequence) return undefined
    return groupsBehind(this.#reader, sequence, limits.groupsSentBytes)
  }

  /** Whether there are files of which all records are at or below a sequence. */
  hasOldFiles(sequence: number): boolean {
    return hasOldFiles(this.#options.directory, sequence)
  }

  /**
   * Removes the files of which all records are at or below a sequence. What these say of the cluster must be kept elsewhere
   * by then.
   *
   * @throws  what the disk says
   */
  async removeUpTo(sequence: number): Promise<void> {
    try {
      this.#writer.truncate(sequence)
    } catch (fault) {
      await this.#writer.release().catch(() => {})
      throw fault
    }
  }

  /** Moves the head that others copy to where the journal ends. */
  async index(): Promise<void> {
    await this.#untilWritten(() => this.#writer.index())
  }

  /** Resolves when it has a batch. */
  async untilReached(sequence: number): Promise<void> {
    while (this.#last.sequence < sequence) await sleep(limits.clusterTickMs)
  }

  /** To be called now and then: as much is read again from the log after a power failure. */
  syncPosition(): void {
    if (!this.#isPositionDue) return
    this.#isPositionDue = false
    try {
      this.#writer.syncPosition(this.#log)
    } catch {
      // The next write says what is wrong with the disk.
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.syncPosition()
    this.#reader.close()
    await this.#writer.release().catch(() => {})
  }

  /** What no journal can hold is passed over by all machines alike, with all that came with it. */
  #appended(batches: readonly SentBatch[], decided: Decided): readonly BatchOutcome[] {
    try {
      return this.#writer.append(batches.map(prepared), decided)
    } catch (fault) {
      if (fault instanceof UnstorableBatch) return []
      throw fault
    }
  }

  /**
   * Tries again for as long as the disk takes nothing. A journal that cannot go on never resolves.
   *
   * @throws  as a rejection, what is wrong with this process
   */
  async #untilWritten<R>(write: () => R): Promise<R> {
    while (!this.#isOver) {
      try {
        const result = write()
        if (this.#failure !== undefined) this.#tellFailure(undefined)
        return result
      } catch (fault) {
        if (fault instanceof JournalDamaged || fault instanceof LogContradicted) {
          this.#isOver = true
          this.#options.onOver(fault)
          break
        }
        // Not of the disk, as where there is no memory: this process ends, and another one reads the group again.
        if (fault instanceof RangeError || fault instanceof TypeError) throw fault
        const { code, message } = fault as NodeJS.ErrnoException
        const reason = code ?? message
        if (this.#failure !== reason) this.#tellFailure(reason)
        await this.#writer.release().catch(() => {})
        await sleep(limits.journalRetryMs)
      }
    }
    return await new Promise<never>(() => {})
  }

  #tellFailure(reason: string | undefined): void {
    this.#failure = reason
    this.#options.onFailure(reason)
  }

  #wrote(): void {
    this.#isPositionDue = true
    if (this.#read()) this.#options.onWritten()
  }

  /** @returns whether there was more */
  #read(): boolean {
    const before = this.#last.sequence
    const { sequence, hash } = this.#reader.head()
    // After a power failure, more may be known than the log has said again.
    const isMore = sequence > this.facts.sequence
    for (const record of isMore ? this.#reader.records(this.facts.sequence) : []) {
      this.#hashes.set(record.sequence, record.hash)
      this.#hashes.delete(record.sequence - limits.clusterLinksCount)
      if (record.sourceId === ENTRY_SOURCE) this.facts.note(record.sequence, record.content)
      else this.facts.pass(record.sequence)
    }
    this.#last = { sequence, hash }
    return sequence > before
  }
}

/**
 * @returns undefined where the journal has all that the current snapshot goes on from; or what it needs, and the last batch
 *   that is on disk, which the log may not have said again since the power failed
 */
export async function behindSnapshot(
  dataDirectory: string,
): Promise<{ readonly needed: number; readonly kept: number } | undefined> {
  const id = await readCurrent(dataDirectory).catch(() => undefined)
  const sources = id && (await readIdentities(dataDirectory, id).catch(() => undefined))
  const needed = sources ? appliedSequenceOf(sources) : 0
  const directory = journalDirectory(dataDirectory)
  const reader = new JournalReader(directory)
  try {
    if (reader.head().sequence >= needed) return undefined
  } catch {
    // One that is damaged is for whoever reads it next.
    return undefined
  } finally {
    reader.close()
  }
  const writer = new JournalWriter({ directory, isClustered: true })
  try {
    return { needed, kept: writer.lastKept().sequence }
  } catch {
    return { needed, kept: 0 }
  } finally {
    await writer.release()
  }
}
