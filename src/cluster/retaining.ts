/**
 * Lets go of old snapshots and of the beginning of the journal on this machine, once it serves the snapshot to which the
 * cluster has switched.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { listSnapshots, readCurrent } from '../snapshot/directory.js'
import type { Entry } from './entries.js'
import type { Facts } from './facts.js'
import type { ClusterJournal } from './journal.js'
import type { ServedSnapshots } from './messages.js'
import { type Retention, removeOldSnapshots, retentionHere } from './retention.js'

export interface RetainingOptions {
  readonly dataDirectory: string
  /** Of this machine. */
  readonly name: string
  readonly journal: Pick<ClusterJournal, 'hasOldFiles' | 'last' | 'removeUpTo'> & {
    readonly facts: Pick<Facts, 'announced' | 'announcements' | 'retention' | 'switchedId'>
  }
  /**
   * Puts an entry into the log.
   *
   * @returns its sequence, when it was read back; undefined where it is not known whether it is there
   */
  readonly enter: (entry: Entry) => Promise<number | undefined>
  /** Undefined before anything is served. */
  readonly served: () => Pick<ServedSnapshots, 'servedId' | 'preparedId'> | undefined
  /**
   * Has the store note how far it is.
   *
   * @returns all entries up to here are in it, on disk
   */
  readonly stored: () => Promise<number>
  /** Writes to disk what the journal says of members and snapshots. */
  readonly keepFacts: () => Promise<void>
  readonly log: Log
}

export class Retaining {
  readonly #options: RetainingOptions
  /** What was carried out. */
  #done = ''
  #againMs = Number.NEGATIVE_INFINITY
  /** Snapshots that were here when others were last told; undefined on a machine that did not announce what is served. */
  #toldIds: string | undefined

  constructor(options: RetainingOptions) {
    this.#options = options
  }

  /** Has all machines switch to a snapshot, and tells them what need not stay then. */
  async enterSwitch(id: string): Promise<void> {
    const { dataDirectory, enter, log } = this.#options
    this.#toldIds = ''
    await enter({ kind: 'switch', id, ...(await retentionHere(dataDirectory, id, log)) })
  }

  /**
   * To be called now and then; one call at a time.
   *
   * @throws  what is tried again
   */
  async look(): Promise<void> {
    const { name, served } = this.#options
    const { facts } = this.#options.journal
    const id = facts.switchedId
    const isTeller = facts.announced?.by === name
    if (!isTeller) this.#toldIds = undefined
    if (id === undefined || served()?.servedId !== id) return
    if (isTeller) await this.#tellRemoved(id)
    const { retention } = facts
    if (retention === undefined) return
    const key = JSON.stringify([id, retention])
    if (key === this.#done || monotonicMs() < this.#againMs) return
    try {
      await this.#carryOut(id, retention)
      this.#done = key
    } catch (fault) {
      // An import or a compaction is under way.
      if (fault instanceof OperatorError && fault.code === 'Locked') return
      this.#againMs = monotonicMs() + limits.retentionRetryMs
      throw fault
    }
  }

  /**
   * Tells that a command has removed snapshots here without a new one. A machine that has fewer snapshots than others as
   * it looks first tells nothing of it: its directory may have been begun anew.
   */
  async #tellRemoved(id: string): Promise<void> {
    const { dataDirectory, journal, enter, log } = this.#options
    const { announced, retention: told } = journal.facts
    const isPending = (await readCurrent(dataDirectory)) !== id || announced?.id !== id
    if (isPending) return
    const ids = (await listSnapshots(dataDirectory)).join()
    if (ids === this.#toldIds) return
    if (this.#toldIds !== undefined && told !== undefined) {
      const here = await retentionHere(dataDirectory, id, log)
      const isLess =
        here.importCount < told.importCount || here.unneededSequence > told.unneededSequence
      // Where it is not known whether machines hear of it, it is told again.
      if (isLess && (await enter({ kind: 'switch', id, ...here })) === undefined) return
    }
    this.#toldIds = ids
  }

  async #carryOut(id: string, { importCount, unneededSequence }: Retention): Promise<void> {
    const { dataDirectory, journal, served, stored, keepFacts, log } = this.#options
    const ids = [journal.facts.announced?.id, served()?.preparedId]
    const neededIds = new Set(ids.flatMap((each) => each ?? []))
    const unneededHere = await removeOldSnapshots(dataDirectory, {
      currentId: id,
      importCount,
      neededIds,
      log,
    })
    const upTo = Math.min(unneededHere, unneededSequence, journal.last.sequence)
    if (!journal.hasOldFiles(upTo)) return
    // What is removed is not read again.
    const storedSequence = await stored()
    await keepFacts()
    await journal.removeUpTo(Math.min(upTo, storedSequence))
    log.info({ upTo: Math.min(upTo, storedSequence) }, 'shortened the journal')
  }
}
