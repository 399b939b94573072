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
import type { ClusterLog } from './cluster-log.js'
import type { Entry } from './entries.js'
import type { ServedSnapshots } from './messages.js'
import { type Retention, removeOldSnapshots, retentionHere } from './retention.js'

export interface RetainingOptions {
  readonly dataDirectory: string
  readonly journal: Pick<
    ClusterLog,
    | 'announced'
    | 'committed'
    | 'committedSnapshot'
    | 'hasOldFiles'
    | 'removeUpTo'
    | 'retention'
    | 'switchedId'
  >
  readonly isWriter: () => boolean
  /** Writes an entry, on the machine that writes. */
  readonly enter: (entry: Entry) => Promise<void>
  /** Undefined before anything is served. */
  readonly served: () => Pick<ServedSnapshots, 'servedId' | 'preparedId'> | undefined
  /**
   * Has the store note how far it is.
   *
   * @returns all entries up to here are in it, on disk
   */
  readonly stored: () => Promise<number>
  /** Writes to disk what the journal says of epochs, members and snapshots. */
  readonly keepTail: () => Promise<void>
  readonly log: Log
}

export class Retaining {
  readonly #options: RetainingOptions
  /** What was carried out. */
  #done = ''
  #againMs = Number.NEGATIVE_INFINITY
  /** Snapshots that were here when others were last told, on the machine that writes; undefined before it looked. */
  #toldIds: string | undefined

  constructor(options: RetainingOptions) {
    this.#options = options
  }

  /** As the writer: tells what need not stay when all switch to a snapshot. */
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
    const { journal, served, isWriter } = this.#options
    const id = journal.switchedId()
    if (!isWriter()) this.#toldIds = undefined
    if (id === undefined || served()?.servedId !== id) return
    if (isWriter()) await this.#tellRemoved(id)
    const retention = journal.retention()
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
   * Tells that a command has removed snapshots here without a new one. A machine that begins to write and has fewer
   * snapshots than others tells nothing of it: it may have joined a moment ago.
   */
  async #tellRemoved(id: string): Promise<void> {
    const { dataDirectory, journal, enter, log } = this.#options
    const isPending = (await readCurrent(dataDirectory)) !== id || journal.announced()?.id !== id
    if (isPending) return
    const ids = (await listSnapshots(dataDirectory)).join()
    const told = journal.retention()
    if (ids === this.#toldIds) return
    if (this.#toldIds !== undefined && told !== undefined) {
      const here = await retentionHere(dataDirectory, id, log)
      const isLess =
        here.importCount < told.importCount || here.unneededSequence > told.unneededSequence
      if (isLess) await enter({ kind: 'switch', id, ...here })
    }
    this.#toldIds = ids
  }

  async #carryOut(id: string, { importCount, unneededSequence }: Retention): Promise<void> {
    const { dataDirectory, journal, served, stored, keepTail, log } = this.#options
    const ids = [journal.announced()?.id, journal.committedSnapshot()?.id, served()?.preparedId]
    const neededIds = new Set(ids.flatMap((each) => each ?? []))
    const unneededHere = await removeOldSnapshots(dataDirectory, {
      currentId: id,
      importCount,
      neededIds,
      log,
    })
    const upTo = Math.min(unneededHere, unneededSequence, journal.committed())
    if (!journal.hasOldFiles(upTo)) return
    // What is removed is not read again.
    const storedSequence = await stored()
    await keepTail()
    await journal.removeUpTo(Math.min(upTo, storedSequence))
    log.info({ upTo: Math.min(upTo, storedSequence) }, 'shortened the journal')
  }
}
