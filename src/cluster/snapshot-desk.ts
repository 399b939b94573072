/**
 * Snapshots of a cluster: the machine that writes announces what is current in its directory, all machines fetch and
 * prepare it, and then switch together.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { readCurrent, snapshotsDirectory, writeCurrent } from '../snapshot/directory.js'
import type { ClusterLog } from './cluster-log.js'
import type { Entry } from './entries.js'
import type { SharedFiles } from './shared-files.js'
import {
  announcedSnapshot,
  fetchSnapshot,
  filesOfSnapshot,
  repairSnapshot,
} from './snapshot-files.js'

interface DeskOptions {
  readonly dataDirectory: string
  readonly journal: ClusterLog
  readonly files: SharedFiles
  readonly isWriter: () => boolean
  /** Writes an entry, on the machine that writes. */
  readonly enter: (entry: Entry) => Promise<void>
  /** Whether each machine that is there has prepared a snapshot, or serves it. */
  readonly areAllPrepared: (id: string) => boolean
  /** This snapshot is to be prepared, and served when it is the second one. */
  readonly onWanted: (wanted: WantedSnapshots) => void
  readonly log: Log
}

export interface WantedSnapshots {
  /** Here, and to be prepared. */
  readonly wantedId: string
  /** To be served; undefined where nobody has said so. */
  readonly switchedId: string | undefined
}

export class SnapshotDesk {
  readonly #options: DeskOptions
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
    const { dataDirectory, journal, files, enter, log } = this.#options
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
      const announced = await announcedSnapshot(dataDirectory, current)
      const directory = join(snapshotsDirectory(dataDirectory), current)
      const all = [...announced.documents, ...(await filesOfSnapshot(dataDirectory, current))]
      for (const file of all) await files.put(join(directory, file.file), file)
      await enter({ kind: 'snapshot', ...announced })
      log.info({ snapshotId: current }, 'announced a snapshot')
    } catch (fault) {
      // Looked at again, as if it were not known.
      this.#current = before
      throw fault
    }
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
    const { areAllPrepared, journal, enter, log } = this.#options
    const isLate = monotonicMs() - this.#announced.sinceMs > limits.clusterSwitchMs
    if (!areAllPrepared(id) && !isLate) return
    // Announced by an earlier writer, or replaced since.
    if (journal.announced()?.id !== id) return
    log.info({ snapshotId: id, isLate }, 'switching to a snapshot on all machines')
    await enter({ kind: 'switch', id })
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
