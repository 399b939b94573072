/**
 * Snapshots of a cluster: a machine announces what a command has made current in its directory, all machines fetch and
 * prepare it, and then switch together.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { MANIFEST_FILE } from '../snapshot/format/manifest.js'
import type { Announcement } from './facts.js'
import { type MadeOptions, MadeSnapshots } from './made-snapshots.js'
import type { WantedSnapshots } from './messages.js'
import type { NodeReport } from './node-report.js'
import type { Published } from './questions.js'
import { Retaining, type RetainingOptions } from './retaining.js'
import type { SharedFiles } from './shared-files.js'
import { fetchSnapshot, repairSnapshot, SnapshotsHere } from './snapshot-files.js'

interface DeskOptions extends RetainingOptions, MadeOptions {
  readonly files: Pick<SharedFiles, 'get' | 'put'>
  /** Of each machine that is there, this one among them. */
  readonly reports: () => readonly Pick<NodeReport, 'name' | 'snapshotId' | 'preparedId'>[]
  /** This snapshot is to be prepared, and served when it is the second one. */
  readonly onWanted: (wanted: WantedSnapshots) => void
  /** What is served here has the id of the one that was announced, and is another one: the service is to start again. */
  readonly onOtherServed: () => void
}

export class SnapshotDesk {
  readonly #options: DeskOptions
  readonly #here: SnapshotsHere
  readonly #made: MadeSnapshots
  readonly #retaining: Retaining
  /** By the id of the snapshot. */
  readonly #repairing = new Map<string, Promise<boolean>>()
  #repaired: { readonly id: string; readonly againMs: number } | undefined
  #isLooking = false
  #looking: Promise<void> = Promise.resolve()
  #looksAgain = false
  #isStopped = false
  #told = ''
  /** Since when machines are waited for that prepare what was announced. */
  #awaited: { readonly sequence: number; readonly sinceMs: number } | undefined
  #failed: { readonly id: string; readonly againMs: number } | undefined

  constructor(options: DeskOptions) {
    this.#options = options
    this.#here = new SnapshotsHere(options.dataDirectory)
    this.#made = new MadeSnapshots(options, this.#here)
    this.#retaining = new Retaining(options)
  }

  /** To be called now and then, and when there is more in the journal. */
  look(): void {
    if (this.#isLooking || this.#isStopped) {
      this.#looksAgain = true
      return
    }
    this.#isLooking = true
    this.#looksAgain = false
    this.#looking = this.#look()
      .catch((fault: unknown) => this.#noteFault(fault))
      .then(() => this.#retaining.look())
      .catch((fault: unknown) => this.#noteFault(fault))
      .finally(() => {
        this.#isLooking = false
        if (this.#looksAgain && !this.#isStopped) this.look()
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

  /** What has become of a snapshot that a command has made current here. To be asked again. */
  async published(id: string): Promise<Published> {
    this.look()
    return await this.#made.published(id)
  }

  /** Resolves when nothing of it is at work any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#looking
  }

  async #repair(id: string): Promise<boolean> {
    const { dataDirectory, files, journal, log } = this.#options
    const { announced } = journal.facts
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
    const { facts } = this.#options.journal
    await this.#made.look()
    const { announced } = facts
    if (announced === undefined) return
    const { id } = announced
    let isHere = await this.#here.has(announced)
    if (!isHere) {
      await this.#fetch(announced)
      isHere = await this.#here.has(announced)
    }
    if (isHere && facts.switchedId !== id) await this.#switch(announced)
    const { switchedId } = facts
    if (isHere && switchedId === id) await this.#made.nameCurrent(id)
    // One that no machine could give yet cannot be prepared; that to which all have switched may be.
    const wantedId = isHere ? id : switchedId
    if (wantedId === undefined || !(await this.#made.isHere(wantedId))) return
    const told = `${wantedId} ${switchedId}`
    if (told === this.#told) return
    this.#told = told
    this.#options.onWanted({ wantedId, switchedId })
  }

  /** Not at once where that has failed a moment ago. */
  async #fetch(announced: Announcement): Promise<void> {
    const { dataDirectory, files, log } = this.#options
    const { id } = announced
    if (this.#failed?.id === id && monotonicMs() < this.#failed.againMs) return
    // Of the same id: made by a command of this directory, or damaged.
    const other = await this.#here.documentsOf(id)
    if (other !== undefined && this.#isInUse(id)) {
      const isManifest = ({ file }: { readonly file: string }) => file === MANIFEST_FILE
      const { sha256 } = announced.documents.find(isManifest) ?? {}
      if (other.find(isManifest)?.sha256 === sha256) await this.repair(id)
      else this.#options.onOtherServed()
      return
    }
    const startedMs = monotonicMs()
    let toldMs = startedMs
    let byteCount = 0
    try {
      await fetchSnapshot(dataDirectory, announced, {
        get: files.get,
        ...(other !== undefined && { replaces: () => this.#made.mayReplace(id) }),
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

  #isInUse(id: string): boolean {
    const { servedId, preparedId } = this.#options.served() ?? {}
    return id === servedId || id === preparedId
  }

  async #switch({ id, by, sequence }: Announcement): Promise<void> {
    const { name, reports, log } = this.#options
    const nowMs = monotonicMs()
    if (this.#awaited?.sequence !== sequence) this.#awaited = { sequence, sinceMs: nowMs }
    const waitedMs = nowMs - this.#awaited.sinceMs
    const isLate = waitedMs > limits.clusterSwitchMs
    const there = reports()
    const names = there.map((report) => report.name).sort()
    const turn = names.includes(by) ? by : names[0]
    // That machine may be stuck.
    if (name !== turn && waitedMs <= 2 * limits.clusterSwitchMs) return
    const areAllPrepared = there.every(
      ({ snapshotId, preparedId }) => snapshotId === id || preparedId === id,
    )
    if (!areAllPrepared && !isLate) return
    log.info({ snapshotId: id, isLate }, 'switching to a snapshot on all machines')
    await this.#retaining.enterSwitch(id)
  }

  #noteFault(fault: unknown): void {
    // Faults of JetStream have numbers.
    const { code, message } = fault as { readonly code?: unknown; readonly message: string }
    const reason = fault instanceof OperatorError || typeof code !== 'string' ? message : code
    this.#options.log.warn({ reason }, 'a snapshot of the cluster')
  }
}
