/**
 * Puts the entries of the journal into the store of this machine, in the main thread, and tells whoever made one what
 * became of it.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { OperatorError, ServiceError } from '../errors.js'
import { type PreparedBatch, prepareEntry } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { JournalReader } from '../journal/reader.js'
import { ENTRY_SOURCE, type JournalRecord } from '../journal/record.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { StoreChange, StoreEntries, StoreOutcome } from '../store/entries.js'
import { decodeEntry, type Entry, encodeEntry, type StoreEntry } from './entries.js'

interface FollowerOptions {
  /** Of the journal. */
  readonly directory: string
  readonly entries: StoreEntries
  /** All up to here is in the store, whatever it says; 0 unless given. */
  readonly foundedSequence?: number | undefined
  /** Hands a batch in; resolves when it is committed. */
  readonly append: (batch: PreparedBatch) => Promise<{ readonly outcome: BatchOutcome }>
  /** What is in the store now. */
  readonly onApplied: (applied: Applied) => void
  /** The store has what machines are compared by at this entry, and nothing that comes behind it. */
  readonly onCompared: (sequence: number, salt: string) => void
  readonly log: Log
}

/** What has come into the store. */
export interface Applied {
  /** All entries up to here. */
  readonly sequence: number
  readonly kinds: ReadonlySet<StoreChange['kind']>
}

/** What became of an entry that this process made. */
interface Settled {
  readonly sequence: number
  readonly outcome: StoreOutcome
}

export class StoreFollower {
  readonly #options: FollowerOptions
  readonly #reader: JournalReader
  readonly #over = new AbortController()
  /** By the id of their entries. */
  readonly #waiting = new Map<string, (settled: Settled) => void>()
  #sequence: number
  /** When the store was last told how far it is. */
  #notedMs = performance.now()
  #following: Promise<void> = Promise.resolve()

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#reader = new JournalReader(options.directory)
    this.#sequence = Math.max(options.entries.sequence(), options.foundedSequence ?? 0)
  }

  /** All entries up to here are in the store, and all changes of recipients in the journal. */
  get sequence(): number {
    return Math.min(this.#sequence, this.#reader.head().sequence)
  }

  /**
   * Puts what is committed now into the store.
   *
   * @throws OperatorError  NewerFormat; DocumentInvalid, where the store lacks entries that the journal has no more
   */
  catchUp(): void {
    const { sequence } = this.#reader.head().first.after
    if (this.#sequence < sequence) {
      throw new OperatorError(
        'DocumentInvalid',
        `the store has what the cluster agreed on up to ${this.#sequence}, and the journal begins behind ${sequence}: ` +
          'put back the one that belongs to the other, or let the machine begin with an empty directory',
      )
    }
    while (this.#applySome());
  }

  /**
   * Has the store note how far it is, also where nothing came into it.
   *
   * @returns all entries up to here are in the store, on disk
   * @throws  what the disk says
   */
  keep(): number {
    if (this.#options.entries.sequence() < this.#sequence) {
      this.#options.entries.apply([], this.#sequence)
    }
    return this.#sequence
  }

  /** Goes on with all that comes. */
  follow(): void {
    this.#following = this.#follow()
  }

  /**
   * Makes an entry, and resolves when it is in the store of this machine.
   *
   * @throws ServiceError  as a rejection, where nobody could write it; or it may be written later
   */
  async make(entry: StoreEntry): Promise<Settled> {
    const id = randomUUID()
    const content = encodeEntry(entry)
    const settled = new Promise<Settled>((resolve) => this.#waiting.set(id, resolve))
    try {
      await this.#options.append(prepareEntry(id, content))
      return await withinTime(settled)
    } finally {
      this.#waiting.delete(id)
    }
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#following
    try {
      this.keep()
    } catch {
      // The next start reads again what has nothing for it.
    }
    this.#reader.close()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over
    let hasFailed = false
    while (!signal.aborted) {
      try {
        await this.#reader.more(this.#sequence, signal)
        this.#applySome()
        hasFailed = false
        // Others are served in between.
        await turn()
      } catch (fault) {
        if (signal.aborted) return
        if (!hasFailed) {
          this.#options.log.error(describeFault(fault), 'entries of the cluster cannot be stored')
        }
        hasFailed = true
        await sleep(limits.journalRetryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** @returns whether there may be more */
  #applySome(): boolean {
    // A store that was copied from another machine may have more than the journal yet.
    if (this.#reader.head().sequence <= this.#sequence) return false
    const found: FoundChange[] = []
    let upTo = this.#sequence
    let byteCount = 0
    let salt: string | undefined
    for (const record of this.#reader.records(this.#sequence)) {
      upTo = record.sequence
      if (record.sourceId === ENTRY_SOURCE) {
        const entry = entryOf(record)
        const change = storeChangeOf(entry, record)
        if (change !== undefined) found.push({ record, change })
        byteCount += record.length
        if (entry.kind === 'comparison') salt = entry.salt
      }
      const isMuch =
        found.length >= limits.entriesAppliedCount || byteCount >= limits.entriesAppliedBytes
      if (isMuch || salt !== undefined) break
    }
    if (upTo === this.#sequence) return false
    this.#apply(found, upTo)
    if (salt !== undefined) this.#options.onCompared(upTo, salt)
    return true
  }

  #apply(found: readonly FoundChange[], upTo: number): void {
    const changes = found.map(({ change }) => change)
    // Where nothing comes into the store, it need not know at once how far it is.
    const isDue = performance.now() - this.#notedMs > limits.entriesNotedMs
    const isNoted = changes.length > 0 || isDue
    const outcomes = isNoted ? this.#options.entries.apply(changes, upTo) : []
    if (isNoted) this.#notedMs = performance.now()
    this.#sequence = upTo
    this.#options.onApplied({ sequence: upTo, kinds: new Set(changes.map(({ kind }) => kind)) })
    for (const [at, { record }] of found.entries()) {
      const { sequence, batchId } = record
      this.#waiting.get(batchId)?.({ sequence, outcome: outcomes[at] })
    }
  }
}

interface FoundChange {
  readonly record: JournalRecord
  readonly change: StoreChange
}

function entryOf({ content, sequence }: JournalRecord): Entry {
  const entry = decodeEntry(content)
  if (entry !== undefined) return entry
  throw new OperatorError(
    'NewerFormat',
    `entry ${sequence} of the journal is of a kind that this version does not know, because a machine with a later ` +
      'version made it: install that version here, too',
  )
}

/** Undefined of an entry that is of no concern to the store. */
function storeChangeOf(entry: Entry, { timeMs, sequence }: JournalRecord): StoreChange | undefined {
  switch (entry.kind) {
    case 'document':
      return entry
    case 'suppressions': {
      const { scope, phones, isRemoval } = entry
      return {
        kind: 'suppressions',
        change: { kind: 'suppressions', scope, phones, isRemoval },
        atMs: timeMs,
      }
    }
    case 'keys': {
      const changes = new Map(entry.records.map(([id, record]) => [id, record ?? undefined]))
      return { kind: 'keys', version: entry.version, changes }
    }
    case 'audience': {
      const audience = { ...entry.audience, entrySequence: sequence }
      return { kind: 'audience', audience, atMs: timeMs }
    }
    case 'deleteAudience':
      return entry
    default:
      return undefined
  }
}

function withinTime(settled: Promise<Settled>): Promise<Settled> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new ServiceError('Unavailable', LATE))
    const timer = setTimeout(late, limits.entryAppliedMs)
    void settled.then(resolve).finally(() => clearTimeout(timer))
  })
}

const LATE = 'the disk is slow: the change will be stored, so look before you send it again'
