/**
 * A snapshot that the service answers from, where changes are applied: follows the journal from the last batch
 * that is in the snapshot on, and tells all front threads what came.
 *
 * @module
 */
import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import type { JournalBatch } from '../journal/batch.js'
import { JournalGone, journalEndsBefore } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { limits } from '../limits.js'
import type { Increment } from '../shard/delta/increment.js'
import { IncrementLog } from '../shard/delta/increment-log.js'
import { appliedSequenceOf, baseSequenceOf } from '../snapshot/applied-sequence.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { readIdentities, type SourceIdentities } from '../snapshot/identities/list.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { type LiveShard, openShards } from './live-shard.js'
import { LiveSnapshot } from './live-snapshot.js'
import { PhoneFinder } from './phone-finder.js'
import { SourceFinder } from './source-finder.js'

interface AttachOptions {
  readonly dataDirectory: string
  readonly snapshot: Snapshot
  /** Sets the marks of those who came; resolves when that is done. */
  readonly mark: (snapshotId: string, increment: Increment) => Promise<void>
  /** Changes are as many as may be: those behind them are seen only in the next snapshot. */
  readonly onFull: (snapshotId: string) => void
  /** Called when all threads have been told of more. */
  readonly onTold: () => void
  /** A batch that deletes was applied: how many of its deletes found nobody. */
  readonly onApplied?: (sequence: number, absentCount: number) => void
  /** There are so many changes that a new snapshot should be made of them. */
  readonly onDue: () => void
  /** Those of `limits` unless given. */
  readonly bounds?: ChangeBounds
}

interface ChangeBounds {
  /** Recipients that may come or go. */
  readonly changeCount: number
  /** From so many on a new snapshot is due. */
  readonly dueCount: number
  /** How often that is said. */
  readonly dueMs: number
}

const LIMITS: ChangeBounds = {
  changeCount: limits.deltaRecipientCount,
  dueCount: limits.compactionChangeCount,
  dueMs: limits.compactionDueMs,
}

interface Opened {
  readonly phones: PhoneFinder
  readonly live: LiveSnapshot
}

type Listener = (increments: readonly Increment[]) => void

export class AttachedSnapshot {
  readonly id: string
  readonly #options: AttachOptions
  readonly #bounds: ChangeBounds
  readonly #baseSequence: number
  readonly #journal: JournalReader
  #shards: readonly LiveShard[] = []
  readonly #log = new IncrementLog()
  readonly #listeners = new Set<Listener>()
  readonly #over = new AbortController()
  readonly #finders: SourceFinder[] = []
  #identities: readonly SourceIdentities[] | undefined
  /** Once changes are expected. */
  #open: Opened | undefined
  #opening: Promise<Opened> | undefined
  /** By id. */
  readonly #sourcesOpening = new Map<number, Promise<void>>()
  #preparing: Promise<void> | undefined
  #sequence: number
  #toldSequence: number
  /** Of batches that were applied and not told. */
  #seals: number[] = []
  #journalSequence = 0
  #isFull = false
  /** Whether a batch is applied in part. Applied once more, it is whole. */
  #isTorn = false
  #dueAgainMs = 0
  #following: Promise<void> = Promise.resolve()

  constructor(options: AttachOptions) {
    const { dataDirectory, snapshot } = options
    this.id = snapshot.id
    this.#options = options
    this.#bounds = options.bounds ?? LIMITS
    this.#baseSequence = baseSequenceOf(snapshot.sources)
    this.#sequence = this.#baseSequence
    this.#toldSequence = this.#baseSequence
    this.#journal = new JournalReader(journalDirectory(dataDirectory))
  }

  /**
   * Applies what is in the journal now.
   *
   * @throws OperatorError  `JournalDamaged`, where the journal does not go on from the snapshot
   */
  async open(): Promise<void> {
    const { sequence } = this.#journal.head()
    if (sequence < this.knownSequence) throw journalEndsBefore(sequence, this.knownSequence)
    try {
      while (this.#sequence < sequence && !this.#isFull) await this.#applySome()
    } catch (fault) {
      if (fault instanceof OperatorError && fault.code === 'JournalDamaged') throw fault
      // Answers are without these changes, and say so; `follow` tries again, and tells why.
    }
  }

  /**
   * Goes on with all that comes.
   *
   * @param onFailure  called each time when that is not possible, before it is tried again
   */
  follow(onFailure: (fault: unknown) => void): void {
    this.#following = this.#followOn(onFailure)
  }

  /**
   * Builds the tables that the first change of each source needs, so that it need not wait for them: five bytes
   * for each recipient and each of phone, contact and key. Does nothing where there never was a change.
   * Resolves when they are there, or cannot be; never rejects.
   */
  async prepare(): Promise<void> {
    if (this.#sequence === 0) return
    this.#preparing ??= this.#prepareAll()
    await this.#preparing
  }

  /** The last batch that was applied. */
  get sequence(): number {
    return this.#sequence
  }

  /** The last batch that was applied, here or to a source before. The journal has it. */
  get knownSequence(): number {
    return Math.max(this.#sequence, appliedSequenceOf(this.#options.snapshot.sources))
  }

  /** The last batch of the journal, which may not be applied yet. While it cannot be read, the last one known. */
  get journalSequence(): number {
    try {
      this.#journalSequence = this.#journal.head().sequence
    } catch {
      // `follow` meets the same fault, tells it, and tries again.
    }
    return Math.max(this.#journalSequence, this.#sequence)
  }

  /** How many recipients came or went. */
  get changeCount(): number {
    return this.#live?.changeCount ?? 0
  }

  /** How many more changes may be applied. */
  get roomCount(): number {
    if (this.#isFull) return 0
    return Math.floor((this.#bounds.changeCount - this.changeCount) / 2)
  }

  /** Tells what came by now, and from then on what comes. */
  listen(listener: Listener): void {
    listener(this.#log.all())
    this.#listeners.add(listener)
  }

  ignore(listener: Listener): void {
    this.#listeners.delete(listener)
  }

  /** Touches the memory of the snapshot no more. */
  async close(): Promise<void> {
    this.#over.abort()
    await Promise.all([this.#following, this.#preparing])
    this.#journal.close()
    for (const finder of this.#finders.splice(0)) finder.close()
    for (const { rows } of this.#shards) rows.close()
  }

  /** Tries again for as long as the journal cannot be read. */
  async #followOn(onFailure: (fault: unknown) => void): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted && !this.#isFull) {
      try {
        await this.#follow()
      } catch (fault) {
        if (signal.aborted) return
        onFailure(fault)
        await sleep(limits.journalRetryMs, undefined, { signal }).catch(() => {})
      }
    }
    // Nothing is applied any more that would say so.
    while (!signal.aborted) {
      this.#noteDue()
      await sleep(this.#bounds.dueMs, undefined, { signal }).catch(() => {})
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over
    while (!this.#isFull) {
      void this.prepare()
      await this.#journal.more(this.#sequence, signal)
      const beganMs = performance.now()
      await this.#applySome()
      // What comes meanwhile is told at once, since each increment costs every thread something.
      const leftMs = limits.incrementMs - (performance.now() - beganMs)
      if (leftMs > 0) await sleep(leftMs, undefined, { signal })
    }
  }

  /** Applies the next batches, and tells of them. */
  async #applySome(): Promise<void> {
    try {
      await this.#applyNext()
    } catch (fault) {
      if (fault instanceof JournalGone) throw goneFault(fault, this.id)
      throw fault
    } finally {
      this.#noteDue()
      // What was applied before a fault is told all the same.
      if (!this.#isTorn) await this.#tell()
    }
    await turn()
  }

  async #applyNext(): Promise<void> {
    const untilMs = performance.now() + limits.incrementMs
    for (const batch of this.#journal.read(this.#sequence)) {
      const { sequence, sourceId, changes, seal } = batch
      const moment = sequence - this.#baseSequence
      if (this.#isNew(batch)) {
        const live = await this.#openedFor(sourceId)
        if (live.changeCount + live.changeCountOf(sourceId, changes) > this.#bounds.changeCount) {
          this.#isFull = true
          this.#options.onFull(this.id)
          break
        }
        // What an earlier attempt deleted is not there for this one.
        const isFirst = !this.#isTorn
        this.#isTorn = true
        const { deletedCount, absentCount } = live.apply(sourceId, changes, moment)
        this.#isTorn = false
        if (isFirst && deletedCount + absentCount > 0) {
          this.#options.onApplied?.(sequence, absentCount)
        }
      } else this.#live?.pass(moment)
      this.#sequence = sequence
      this.#seals.push(seal)
      if (performance.now() > untilMs) break
    }
  }

  /** Whether it changes a source of the snapshot, and is not in it. */
  #isNew({ sourceId, sequence }: JournalBatch): boolean {
    const source = this.#options.snapshot.sources.find(({ id }) => id === sourceId)
    return source !== undefined && sequence > (source.appliedSequence ?? 0)
  }

  async #prepareAll(): Promise<void> {
    for (const { id } of this.#options.snapshot.sources) {
      // A change of the source tries again, and tells why it cannot be applied.
      await this.#openedFor(id).catch(() => {})
      if (this.#over.signal.aborted) return
    }
  }

  /** Waits for what finds the recipients of the source: that takes as long as it is large, once. */
  async #openedFor(sourceId: number): Promise<LiveSnapshot> {
    const opened = this.#open ?? (await this.#phonesOpened())
    if (opened.live.hasSource(sourceId)) return opened.live
    let opening = this.#sourcesOpening.get(sourceId)
    if (opening === undefined) {
      const forget = () => void this.#sourcesOpening.delete(sourceId)
      opening = this.#openSource(sourceId, opened).finally(forget)
      this.#sourcesOpening.set(sourceId, opening)
    }
    await opening
    return opened.live
  }

  async #openSource(sourceId: number, { live, phones }: Opened): Promise<void> {
    const { dataDirectory } = this.#options
    this.#identities ??= await readIdentities(dataDirectory, this.id)
    const identities = this.#identities.find(({ id }) => id === sourceId)
    if (identities === undefined) throw unknownIdentities(sourceId, this.id)
    const directory = join(snapshotsDirectory(dataDirectory), this.id)
    const shards = this.#shards
    const { signal } = this.#over
    const finder = await SourceFinder.open({ directory, identities, shards, phones, signal })
    this.#finders.push(finder)
    live.addSource(sourceId, finder)
  }

  #phonesOpened(): Promise<Opened> {
    this.#opening ??= this.#openPhones().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #openPhones(): Promise<Opened> {
    const { dataDirectory, snapshot } = this.#options
    if (this.#shards.length === 0) this.#shards = await openShards(dataDirectory, snapshot)
    const phones = await PhoneFinder.open(this.#shards, this.#over.signal)
    const sourceIds = snapshot.sources.map(({ id }) => id)
    const live = new LiveSnapshot(this.#shards, sourceIds, phones)
    this.#open = { phones, live }
    return this.#open
  }

  get #live(): LiveSnapshot | undefined {
    return this.#open?.live
  }

  /** Now and then, for as long as it is so: what comes of it may be refused. */
  #noteDue(): void {
    const nowMs = performance.now()
    if (this.changeCount < this.#bounds.dueCount || nowMs < this.#dueAgainMs) return
    this.#dueAgainMs = nowMs + this.#bounds.dueMs
    this.#options.onDue()
  }

  async #tell(): Promise<void> {
    if (this.#sequence === this.#toldSequence) return
    this.#toldSequence = this.#sequence
    const moment = this.#sequence - this.#baseSequence
    const changed = this.#live?.takeChanged() ?? { moment, shards: [], deltas: [] }
    const increment = { ...changed, seals: Uint32Array.from(this.#seals.splice(0)) }
    // Before anybody can answer with them.
    await this.#options.mark(this.id, increment)
    this.#log.add(increment)
    for (const listener of this.#listeners) listener([increment])
    this.#options.onTold()
  }
}

function unknownIdentities(sourceId: number, snapshotId: string): OperatorError {
  return new OperatorError(
    'Failed',
    `the snapshot ${snapshotId} does not say what recipients of source ${sourceId} are known by, since an ` +
      'earlier version wrote it: import the source once more',
  )
}

function goneFault(fault: JournalGone, snapshotId: string): OperatorError {
  return new OperatorError(
    'JournalDamaged',
    `${fault.message}: the snapshot ${snapshotId} is older than that, so import its sources again`,
    { cause: fault },
  )
}
