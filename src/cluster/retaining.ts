/**
 * Lets go of old snapshots and of the beginning of the journal on this machine, once it serves the snapshot to which the
 * cluster has switched. One machine tells what it keeps, so that all of them can go back to the same snapshots.
 *
 * @module
 */
import { syncDirectory } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { listSnapshots, readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { withCompactionLock } from '../snapshot/publish/lock.js'
import { prune, removeTemporaries } from '../snapshot/publish/make-current.js'
import { readLineage, readStates } from '../snapshot/retention/history.js'
import { neededChanges } from '../snapshot/retention/needed-changes.js'
import { countedImports } from '../snapshot/retention/retained.js'
import type { Entry, Retention } from './entries.js'
import type { Facts } from './facts.js'
import type { ClusterJournal } from './journal.js'
import type { ServedSnapshots } from './messages.js'

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
    this.#toldIds = ''
    await this.#options.enter({ kind: 'switch', id, ...(await this.#retentionHere(id)) })
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
    const { dataDirectory, journal, enter } = this.#options
    const { announced, retention: told } = journal.facts
    const isPending = (await readCurrent(dataDirectory)) !== id || announced?.id !== id
    if (isPending) return
    const ids = (await listSnapshots(dataDirectory)).join()
    if (ids === this.#toldIds) return
    if (this.#toldIds !== undefined && told !== undefined) {
      const here = await this.#retentionHere(id)
      const isLess =
        here.importCount < told.importCount || here.unneededSequence > told.unneededSequence
      // Where it is not known whether machines hear of it, it is told again.
      if (isLess && (await enter({ kind: 'switch', id, ...here })) === undefined) return
    }
    this.#toldIds = ids
  }

  /** What this machine keeps; all, where that cannot be told. */
  async #retentionHere(id: string): Promise<Retention> {
    const { dataDirectory, log } = this.#options
    try {
      const ids = await listSnapshots(dataDirectory)
      const states = await readStates(dataDirectory, ids)
      const lineage = await readLineage(dataDirectory, id, ids)
      const unneededSequence = await unneededIn(dataDirectory)
      return { importCount: countedImports(states, lineage), unneededSequence }
    } catch (fault) {
      const reason = (fault as Error).message
      const what = 'no machine removes snapshots, since this one cannot tell which it keeps'
      log.warn({ reason }, what)
      return { importCount: limits.snapshotCountMax, unneededSequence: 0 }
    }
  }

  async #carryOut(id: string, { importCount, unneededSequence }: Retention): Promise<void> {
    const { journal, stored, keepFacts, log } = this.#options
    const unneededHere = await this.#removeOldSnapshots(id, importCount)
    const upTo = Math.min(unneededHere, unneededSequence, journal.last.sequence)
    if (!journal.hasOldFiles(upTo)) return
    // What is removed is not read again.
    const storedSequence = await stored()
    await keepFacts()
    await journal.removeUpTo(Math.min(upTo, storedSequence))
    log.info({ upTo: Math.min(upTo, storedSequence) }, 'shortened the journal')
  }

  /**
   * To last: what they needed of the journal may be removed then.
   *
   * @returns up to where nothing here needs the journal
   * @throws OperatorError  `Locked` while an import or a compaction runs
   */
  async #removeOldSnapshots(currentId: string, keepCount: number): Promise<number> {
    const { dataDirectory, journal, served, log } = this.#options
    const snapshots = snapshotsDirectory(dataDirectory)
    // As a compaction, so that commands wait for the end of it.
    return await withCompactionLock(dataDirectory, async () => {
      // Of a machine that was killed as it did this.
      await removeTemporaries(snapshots)
      const { announced } = journal.facts
      // A command may have made one current that is not announced yet.
      const ids = [announced?.id, served()?.preparedId, await readCurrent(dataDirectory)]
      const neededIds = new Set(ids.flatMap((id) => id ?? []))
      await prune(dataDirectory, { currentId, keepCount, neededIds }, log)
      await syncDirectory(snapshots)
      return await unneededIn(dataDirectory)
    })
  }
}

/** No snapshot of a directory needs this batch of the journal, or one before; 0 where that cannot be told. */
async function unneededIn(dataDirectory: string): Promise<number> {
  return (await neededChanges(dataDirectory))?.appliedSequence ?? 0
}
