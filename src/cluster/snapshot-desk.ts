/**
 * Snapshots of a cluster: the machine that writes announces what is current in its directory, all machines fetch and
 * prepare it, and then switch together.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { readCurrent, snapshotsDirectory, writeCurrent } from '../snapshot/directory.js'
import { type Placement, readPlacement, writePlacement } from '../snapshot/placement.js'
import type { ClusterLog } from './cluster-log.js'
import type { WantedSnapshots } from './messages.js'
import { DigestFault } from './nats/cluster-files.js'
import type { NodeReport } from './node-report.js'
import { Retaining, type RetainingOptions } from './retaining.js'
import type { SharedFiles } from './shared-files.js'
import {
  announcedSnapshot,
  fetchSnapshot,
  filesOfSnapshot,
  repairSnapshot,
  type SnapshotFile,
} from './snapshot-files.js'

interface DeskOptions extends RetainingOptions {
  readonly journal: ClusterLog
  readonly files: SharedFiles
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
  #repairing: Promise<void> | undefined
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

  /** Fetches what is damaged of a snapshot. */
  async repair(id: string): Promise<void> {
    this.#repairing ??= this.#repair(id).finally(() => {
      this.#repairing = undefined
    })
    await this.#repairing
  }

  stop(): void {
    this.#isStopped = true
  }

  async #repair(id: string): Promise<void> {
    const { dataDirectory, files, journal, log } = this.#options
    const announced = journal.committedSnapshot()
    if (announced?.id !== id) return
    const replacedCount = await repairSnapshot(dataDirectory, announced, files.get)
    log.warn({ snapshotId: id, replacedCount }, 'fetched what was damaged of a snapshot')
  }

  async #look(): Promise<void> {
    const { dataDirectory, journal, isWriter } = this.#options
    if (isWriter()) await this.#announce()
    const announced = journal.committedSnapshot()
    if (announced === undefined) return
    const { id } = announced
    if (!existsSync(join(snapshotsDirectory(dataDirectory), id))) await this.#fetch(id)
    const switchedId = journal.switchedId()
    if (isWriter() && switchedId !== id) await this.#switch(id)
    if (switchedId === id) await this.#makeCurrent(id)
    const told = `${id} ${switchedId}`
    if (told === this.#told) return
    this.#told = told
    this.#options.onWanted({ wantedId: id, switchedId })
  }

  /** What an import, a compaction or a rollback made current here. */
  async #announce(): Promise<void> {
    const { dataDirectory, journal, enter, log } = this.#options
    const current = await readCurrent(dataDirectory)
    const before = this.#current
    this.#current = current
    if (current === undefined) return
    const announcedId = journal.announced()?.id
    // One that was announced, and is not served yet, is no reason to go back to what is.
    const isNew = current !== announcedId && current !== journal.switchedId()
    const isChanged = before !== undefined && before !== current && current !== announcedId
    if (!isNew && !isChanged) return
    try {
      await this.#place(current)
      const announced = await announcedSnapshot(dataDirectory, current)
      const directory = join(snapshotsDirectory(dataDirectory), current)
      const all = [...announced.documents, ...(await filesOfSnapshot(dataDirectory, current))]
      await this.#putAll(directory, all)
      await enter({ kind: 'snapshot', ...announced })
      log.info({ snapshotId: current }, 'announced a snapshot')
    } catch (fault) {
      // Looked at again, as if it were not known.
      this.#current = before
      throw fault
    }
  }

  /** Where the object store does not answer, others read the files from this machine. */
  async #putAll(directory: string, all: readonly SnapshotFile[]): Promise<void> {
    for (const file of all) {
      try {
        await this.#options.files.put(join(directory, file.file), file)
      } catch (fault) {
        const { code, message } = fault as NodeJS.ErrnoException
        if (fault instanceof DigestFault || code === 'ENOENT') throw fault
        this.#options.log.warn({ reason: message }, 'the object store of NATS takes no file')
        return
      }
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
    await writeCurrent(dataDirectory, id)
    this.#current = id
  }

  #noteFault(fault: unknown): void {
    const { code, message } = fault as NodeJS.ErrnoException
    this.#options.log.warn({ reason: code ?? message }, 'a snapshot of the cluster')
  }
}
