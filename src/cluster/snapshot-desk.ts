/**
 * Snapshots of a cluster: a machine announces what a command has made current in its directory, all machines fetch and
 * prepare it, and then switch together.
 *
 * @module
 */
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { MANIFEST_FILE } from '../snapshot/format/manifest.js'
import type { Announcement } from './facts.js'
import { type MadeOptions, MadeSnapshots } from './made-snapshots.js'
import type { WantedSnapshots } from './messages.js'
import type { Published } from './questions.js'
import type { NodeReport } from './reports.js'
import { Retaining } from './retaining.js'
import { reasonOf } from './shared-files.js'

interface DeskOptions extends MadeOptions {
  /** Of each machine that is there, this one among them. */
  readonly reports: () => readonly Pick<NodeReport, 'name' | 'snapshotId' | 'preparedId'>[]
  /** This snapshot is to be prepared, and served when it is the second one. */
  readonly onWanted: (wanted: WantedSnapshots) => void
  /** What is served here has the id of the one that was announced, and is another one: the service is to start again. */
  readonly onOtherServed: () => void
}

export class SnapshotDesk {
  readonly #options: DeskOptions
  readonly #made: MadeSnapshots
  readonly #retaining: Retaining
  #repaired: { readonly id: string; readonly againMs: number } | undefined
  #looking: Promise<void> | undefined
  #isDue = false
  #isStopped = false
  #told = ''
  /** Since when machines are waited for that prepare what was announced. */
  #awaited: { readonly sequence: number; readonly sinceMs: number } | undefined
  #failed: { readonly id: string; readonly againMs: number } | undefined

  constructor(options: DeskOptions) {
    this.#options = options
    this.#made = new MadeSnapshots(options)
    this.#retaining = new Retaining(options)
  }

  /** To be called now and then, and when there is more in the journal. */
  look(): void {
    this.#isDue = true
    this.#looking ??= this.#lookWhileDue()
  }

  /**
   * Fetches what is damaged of the announced snapshot; not at once where that was tried a moment ago, since all of it is read.
   *
   * @returns whether something was
   */
  async repair(id: string): Promise<boolean> {
    const { journal, snapshots } = this.#options
    const { announced } = journal.facts
    const isTried = this.#repaired?.id === id && monotonicMs() < this.#repaired.againMs
    if (announced?.id !== id || (isTried && !snapshots.isComing(id))) return false
    let waitMs: number = limits.fetchRetryMs
    try {
      const replacedCount = await snapshots.repair(announced)
      // All of it was read for nothing.
      if (replacedCount === 0) waitMs = limits.snapshotRetryMs
      return replacedCount > 0
    } finally {
      this.#repaired = { id, againMs: monotonicMs() + waitMs }
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

  async #lookWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false
      await this.#look().catch((fault: unknown) => this.#noteFault(fault))
      await this.#retaining.look().catch((fault: unknown) => this.#noteFault(fault))
    }
    this.#looking = undefined
  }

  async #look(): Promise<void> {
    const { journal, snapshots } = this.#options
    const { facts } = journal
    await this.#made.look()
    const { announced } = facts
    if (announced === undefined) return
    const { id } = announced
    let isHere = await snapshots.has(announced)
    if (!isHere) {
      await this.#fetch(announced)
      isHere = await snapshots.has(announced)
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
    const { snapshots, served, onOtherServed } = this.#options
    const { id } = announced
    if (this.#failed?.id === id && monotonicMs() < this.#failed.againMs) return
    // Of the same id: made by a command of this directory, or damaged.
    const other = await snapshots.documentsOf(id)
    const { servedId, preparedId } = served() ?? {}
    if (other !== undefined && (id === servedId || id === preparedId)) {
      const isManifest = ({ file }: { readonly file: string }) => file === MANIFEST_FILE
      const { sha256 } = announced.documents.find(isManifest) ?? {}
      if (other.find(isManifest)?.sha256 === sha256) await this.repair(id)
      else onOtherServed()
      return
    }
    try {
      await snapshots.fetch(announced, other && (() => this.#made.mayReplace(id)))
    } catch (fault) {
      this.#failed = { id, againMs: monotonicMs() + limits.fetchRetryMs }
      throw fault
    }
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
    this.#options.log.warn({ reason: reasonOf(fault) }, 'a snapshot of the cluster')
  }
}
