/**
 * Snapshots of a cluster: the machine that writes announces what is current in its directory, all machines fetch and
 * prepare it, and then switch together.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { readCurrent, snapshotsDirectory, writeCurrent } from '../snapshot/directory.js'
import { type Placement, readPlacement, writePlacement } from '../snapshot/placement.js'
import type { ClusterLog } from './cluster-log.js'
import type { WantedSnapshots } from './messages.js'
import type { NodeReport } from './node-report.js'
import { Retaining, type RetainingOptions } from './retaining.js'
import type { SharedFiles } from './shared-files.js'
import {
  announcedSnapshot,
  fetchSnapshot,
  filesOfSnapshot,
  repairSnapshot,
} from './snapshot-files.js'

interface DeskOptions extends RetainingOptions {
  readonly journal: RetainingOptions['journal'] & Pick<ClusterLog, 'epochSequence'>
  readonly files: Pick<SharedFiles, 'get' | 'tryToPut'>
  /** Of each machine that is there. */
  readonly reports: () => readonly NodeReport[]
  /** Which machines hold what of a snapshot that is announced; undefined where each holds all. */
  readonly placement: () => Placement | undefined
  /** This snapshot is to be prepared, and served when it is the second one. */
  readonly onWanted: (wanted: WantedSnapshots) => void
}

export class SnapshotDesk {
  readonly #options: DeskOptions
  readonly #retaining: Retaining
  /** By the id of the snapshot. */
  readonly #repairing = new Map<string, Promise<boolean>>()
  #repaired: { readonly id: string; readonly againMs: number } | undefined
  /** In this epoch of its own, whatever is current in its directory and not announced was made so by somebody. */
  #inStepSince: number | undefined
  #isLooking = false
  #looksAgain = false
  #isStopped = false
  #told = ''
  /** What CURRENT named when it was last looked at. */
  #current: string | undefined
  /** Since when each machine is waited for. */
  #announced: { readonly id: string; readonly sinceMs: number } | undefined
  #failed: { readonly id: string; readonly againMs: number } | undefined

  constructor(options: DeskOptions) {
    this.#options = options
    this.#retaining = new Retaining(options)
  }

  /** To be called now and then, and when something was committed. */
  look(): void {
    if (this.#isLooking || this.#isStopped) {
      this.#looksAgain = true
      return
    }
    this.#isLooking = true
    this.#looksAgain = false
    void this.#look()
      .catch((fault: unknown) => this.#noteFault(fault))
      .then(() => this.#retaining.look())
      .catch((fault: unknown) => this.#noteFault(fault))
      .finally(() => {
        this.#isLooking = false
        if (this.#looksAgain) this.look()
      })
  }

  /**
   * Fetches what is damaged of a snapshot; not at once where that was tried a moment ago, since all of it is read.
   *
   * @returns whether something was
   */
  async repair(id: string): Promise<boolean> {
    const repairing = this.#repairing.get(id) ?? this.#repair(id)
    this.#repairing.set(id, repairing)
    try {
      return await repairing
    } finally {
      this.#repairing.delete(id)
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  async #repair(id: string): Promise<boolean> {
    const { dataDirectory, files, journal, log } = this.#options
    const announced = journal.committedSnapshot()
    const isDue = this.#repaired?.id !== id || monotonicMs() >= this.#repaired.againMs
    if (announced?.id !== id || !isDue) return false
    let waitMs: number = limits.fetchRetryMs
    let replacedCount: number
    try {
      replacedCount = await repairSnapshot(dataDirectory, announced, files.get)
      // All of it was read for nothing.
      if (replacedCount === 0) waitMs = limits.snapshotRetryMs
    } finally {
      this.#repaired = { id, againMs: monotonicMs() + waitMs }
    }
    if (replacedCount === 0) return false
    log.warn({ snapshotId: id, replacedCount }, 'fetched what was damaged of a snapshot')
    return true
  }

  async #look(): Promise<void> {
    const { dataDirectory, journal, isWriter } = this.#options
    if (isWriter() && (this.#isInStep() || (await this.#fallIntoStep()))) await this.#announce()
    const announced = journal.committedSnapshot()
    if (announced === undefined) return
    const { id } = announced
    const isHere = (one: string) => existsSync(join(snapshotsDirectory(dataDirectory), one))
    if (!isHere(id)) await this.#fetch(id)
    const switchedId = journal.switchedId()
    if (isWriter() && switchedId !== id && isHere(id)) await this.#switch(id)
    if (switchedId === id) await this.#makeCurrent(id)
    // One that nobody could give yet cannot be prepared; that to which all have switched may be.
    const wantedId = isHere(id) ? id : switchedId
    if (wantedId === undefined || !isHere(wantedId)) return
    const told = `${wantedId} ${switchedId}`
    if (told === this.#told) return
    this.#told = told
    this.#options.onWanted({ wantedId, switchedId })
  }

  /**
   * A machine that has just begun to write may still have current what an earlier writer has replaced: to announce that
   * would take an import back.
   */
  async #fallIntoStep(): Promise<boolean> {
    const { dataDirectory, journal } = this.#options
    const since = journal.epochSequence()
    // Until then, it may not know of a switch.
    if (journal.committed() < since) return false
    const switchedId = journal.switchedId()
    if (switchedId !== undefined && (await readCurrent(dataDirectory)) !== switchedId) {
      if (!existsSync(join(snapshotsDirectory(dataDirectory), switchedId))) return false
      await this.#nameCurrent(switchedId)
    }
    this.#inStepSince = since
    return this.#isInStep()
  }

  /** Not where another machine may have written meanwhile, even if this one does so again. */
  #isInStep(): boolean {
    return this.#inStepSince === this.#options.journal.epochSequence()
  }

  /** What an import, a compaction or a rollback made current here. */
  async #announce(): Promise<void> {
    const { dataDirectory, journal, files, enter, log } = this.#options
    const current = await readCurrent(dataDirectory)
    const before = this.#current
    this.#current = current
    if (current === undefined) return
    const announcedId = journal.announced()?.id
    const switchedId = journal.switchedId()
    // One that was announced, and is not served yet, is no reason to go back to what is.
    const isNew = current !== announcedId && current !== switchedId
    const isChanged = before !== undefined && before !== current && current !== announcedId
    if (!isNew && !isChanged) return
    try {
      await this.#place(current)
      const announced = await announcedSnapshot(dataDirectory, current)
      const directory = join(snapshotsDirectory(dataDirectory), current)
      const all = [...announced.documents, ...(await filesOfSnapshot(dataDirectory, current))]
      // After one that is not taken, the others would not be either.
      for (const file of all) {
        if (!(await files.tryToPut(join(directory, file.file), file))) break
      }
      const isAsBefore =
        journal.announced()?.id === announcedId && journal.switchedId() === switchedId
      if (!isAsBefore) throw new Error('another machine has announced a snapshot meanwhile')
      await enter({ kind: 'snapshot', ...announced })
      log.info({ snapshotId: current }, 'announced a snapshot')
    } catch (fault) {
      // Looked at again, as if it were not known.
      this.#current = before
      throw fault
    }
  }

  /** One that was placed stays where it is: others may have heard of it. */
  async #place(id: string): Promise<void> {
    const { dataDirectory, placement } = this.#options
    const wanted = placement()
    if (wanted === undefined || (await readPlacement(dataDirectory, id)) !== undefined) return
    await writePlacement(dataDirectory, id, wanted)
  }

  async #fetch(id: string): Promise<void> {
    const { dataDirectory, files, journal, log } = this.#options
    const announced = journal.committedSnapshot()
    if (announced?.id !== id) return
    if (this.#failed?.id === id && monotonicMs() < this.#failed.againMs) return
    const startedMs = monotonicMs()
    let toldMs = startedMs
    let byteCount = 0
    try {
      await fetchSnapshot(dataDirectory, announced, {
        get: files.get,
        onProgress(doneBytes, totalBytes) {
          byteCount = totalBytes
          if (monotonicMs() - toldMs < limits.fetchToldMs) return
          toldMs = monotonicMs()
          const percent = Math.floor((100 * doneBytes) / totalBytes)
          log.info({ snapshotId: id, percent, doneBytes, totalBytes }, 'fetching a snapshot')
        },
      })
    } catch (fault) {
      this.#failed = { id, againMs: monotonicMs() + limits.fetchRetryMs }
      throw fault
    }
    const ms = Math.round(monotonicMs() - startedMs)
    log.info({ snapshotId: id, byteCount, ms }, 'fetched a snapshot')
  }

  async #switch(id: string): Promise<void> {
    if (this.#announced?.id !== id) this.#announced = { id, sinceMs: monotonicMs() }
    const { reports, journal, log } = this.#options
    const isLate = monotonicMs() - this.#announced.sinceMs > limits.clusterSwitchMs
    const areAllPrepared = reports().every(
      ({ snapshotId, preparedId }) => snapshotId === id || preparedId === id,
    )
    if (!areAllPrepared && !isLate) return
    // Announced by an earlier writer, or replaced since.
    if (journal.announced()?.id !== id) return
    const current = await readCurrent(this.#options.dataDirectory)
    // One that an earlier writer has announced; what somebody makes current meanwhile is announced next.
    if (current !== id && current === this.#current) await this.#nameCurrent(id)
    log.info({ snapshotId: id, isLate }, 'switching to a snapshot on all machines')
    await this.#retaining.enterSwitch(id)
  }

  async #makeCurrent(id: string): Promise<void> {
    const { dataDirectory, isWriter } = this.#options
    const current = await readCurrent(dataDirectory)
    if (current === id) return
    // There, whatever else is current was made so by somebody, and is announced.
    if (isWriter() && current !== undefined) return
    if (!existsSync(join(snapshotsDirectory(dataDirectory), id))) return
    await this.#nameCurrent(id)
  }

  async #nameCurrent(id: string): Promise<void> {
    await writeCurrent(this.#options.dataDirectory, id)
    this.#current = id
  }

  #noteFault(fault: unknown): void {
    const { code, message } = fault as NodeJS.ErrnoException
    const reason = fault instanceof OperatorError ? message : (code ?? message)
    this.#options.log.warn({ reason }, 'a snapshot of the cluster')
  }
}
