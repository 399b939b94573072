/**
 * The files of audiences on a machine of a cluster: gives others what was frozen here, fetches what others have frozen, one
 * audience at a time, and removes what was deleted. Which audiences there are the store says.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDirectory } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { audienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import type { AnnouncedAudience, MadeAudience, SharedAudience } from '../store/audiences.js'
import type { Member } from './entries.js'
import type { Kept } from './messages.js'
import { type AudienceFiles, hasFilesOf, type NodeReports } from './reports.js'
import { reasonOf, type SharedFiles } from './shared-files.js'
import { announcedSnapshot, type SnapshotFiles } from './snapshot-files.js'
import { type FileDigest, isWhole } from './verified-file.js'

interface DeskOptions {
  readonly dataDirectory: string
  /** Of this machine. */
  readonly name: string
  readonly members: () => readonly Member[]
  readonly reports: Pick<NodeReports, 'of'>
  readonly files: Pick<SharedFiles, 'get' | 'put' | 'isKept'>
  readonly snapshots: SnapshotFiles
  /** More is here than before, or less. */
  readonly onChange: () => void
  readonly log: Log
}

interface Known {
  audience: SharedAudience
  isHere: boolean
  /** Somebody has found it damaged here, and it was not looked over since. */
  isSuspect: boolean
  /** How many wait for it. */
  waitingCount: number
  /** Until then it is not fetched again, nor looked over. */
  againMs: number
  /** Why it is not here. */
  reason: string
}

export class AudienceDesk {
  readonly #options: DeskOptions
  /** By id. */
  #known: ReadonlyMap<string, Known> = new Map()
  #upTo: number | undefined
  #isLooking = false
  #isStopped = false

  constructor(options: DeskOptions) {
    this.#options = options
  }

  /**
   * Says which audiences there are, and removes the files of those that are no more.
   *
   * @param upTo  of the last entry that they follow from
   */
  know(upTo: number, audiences: readonly SharedAudience[]): void {
    const before = this.#known
    const known = audiences.map((audience) =>
      Object.assign(before.get(audience.id) ?? newlyKnown(audience), { audience }),
    )
    this.#known = new Map(known.map((each) => [each.audience.id, each]))
    this.#upTo = upTo
    for (const [id, { audience }] of before) if (!this.#known.has(id)) this.#remove(audience)
    this.look()
  }

  /** What other machines are told; undefined before anything is known. */
  files(): AudienceFiles | undefined {
    if (this.#upTo === undefined) return undefined
    const lacking = this.#live().filter(({ isHere }) => !isHere)
    return { upTo: this.#upTo, lacking: lacking.map(({ audience }) => audience.entrySequence) }
  }

  /** Where the file of an audience with this digest should be; undefined where there is none. */
  pathOf(sha256: string): string | undefined {
    const known = this.#live().find(({ audience }) => audience.file.sha256 === sha256)
    return known && this.#path(known.audience)
  }

  /** Files of audiences that some member does not have. */
  awaited(): FileDigest[] {
    return this.#live().flatMap(({ audience: { entrySequence, file } }) =>
      this.#lacking(entrySequence).length > 0 ? file : [],
    )
  }

  /** To be called now and then. */
  look(): void {
    if (!this.#isLooking) void this.#look()
  }

  stop(): void {
    this.#isStopped = true
  }

  /** As `ClusterCalls` says. */
  async put(made: MadeAudience): Promise<AnnouncedAudience['documents']> {
    const { dataDirectory, files } = this.#options
    try {
      const { documents } = await announcedSnapshot(dataDirectory, made.snapshotId)
      await files.put(this.#path(made), made.file)
      return documents
    } catch (fault) {
      throw failed(reasonOf(fault))
    }
  }

  /** Resolves when most members have the files, or some time later the object store has them, or not in time. */
  async untilKept(entrySequence: number, file: FileDigest): Promise<Kept> {
    const { members, files } = this.#options
    const startedMs = monotonicMs()
    for (;;) {
      const waitingFor = this.#lacking(entrySequence)
      const elapsedMs = monotonicMs() - startedMs
      const haveMost = 2 * waitingFor.length < members().length
      // Where NATS is away, only members count.
      const isStored = () => files.isKept(file).catch(() => false)
      if (haveMost || (elapsedMs >= limits.audienceStoredMs && (await isStored()))) {
        return { isKept: true, waitingFor }
      }
      if (elapsedMs >= limits.audienceSpreadMs) return { isKept: false, waitingFor }
      await sleep(limits.audienceKeptLookMs)
    }
  }

  /** Names of members that have not told that they have the files of an audience. */
  #lacking(entrySequence: number): string[] {
    const { members, reports, name: own } = this.#options
    const filesOf = ({ name, incarnation }: Member) => {
      if (name === own) return this.files()
      const report = reports.of(name)
      // Not those of a machine whose place it took.
      return report?.incarnation === incarnation ? report.audiences : undefined
    }
    const lacking = members().filter((member) => !hasFilesOf(filesOf(member), entrySequence))
    return lacking.map(({ name }) => name)
  }

  /** As `ClusterCalls` says. */
  async bring(id: string, isDamaged: boolean, waitMs: number): Promise<void> {
    const known = this.#known.get(id)
    if (known === undefined) throw failed('it is not known any more')
    // What is not right a moment after it was looked over cannot be made so by looking again.
    if (isDamaged && monotonicMs() >= known.againMs) known.isSuspect = true
    if (known.isHere && (known.isSuspect || !(await this.#isThere(known.audience)))) {
      known.isHere = false
      known.againMs = 0
      this.#options.onChange()
    }
    const endMs = monotonicMs() + waitMs
    known.waitingCount++
    this.look()
    while (!known.isHere && monotonicMs() < endMs) await sleep(limits.audienceKeptLookMs)
    known.waitingCount--
    if (!known.isHere) throw failed(known.reason)
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    for (;;) {
      const next = this.#isStopped ? undefined : this.#next()
      if (next === undefined) break
      await this.#fetch(next)
    }
    this.#isLooking = false
  }

  /** One for which somebody waits, or the oldest. */
  #next(): Known | undefined {
    const nowMs = monotonicMs()
    const lacking = this.#live().filter(({ isHere, againMs }) => !isHere && againMs <= nowMs)
    return (
      lacking.find(({ waitingCount }) => waitingCount > 0) ??
      lacking.sort((left, right) => left.audience.entrySequence - right.audience.entrySequence)[0]
    )
  }

  async #fetch(known: Known): Promise<void> {
    const { audience } = known
    const { id } = audience
    const { log, onChange } = this.#options
    try {
      await this.#fetchAll(known)
    } catch (fault) {
      known.againMs = monotonicMs() + limits.fetchRetryMs
      known.reason = reasonOf(fault)
      const about = { audienceId: id, reason: known.reason }
      log.warn(about, 'the files of an audience cannot be fetched')
      return
    }
    // Deleted meanwhile, and its file written after that.
    if (this.#known.get(id) !== known) return this.#remove(audience)
    known.isHere = !known.isSuspect
    known.reason = SLOW
    onChange()
  }

  /**
   * The snapshot first: a file without it would be damaged for whoever looks. Then once more, since only the name of the file
   * keeps others from removing it.
   */
  async #fetchAll(known: Known): Promise<void> {
    const { dataDirectory, files, snapshots, log } = this.#options
    const { audience, isSuspect } = known
    const { id, snapshotId, documents, file } = audience
    const snapshot = { id: snapshotId, documents }
    if (!this.#isSnapshotThere(audience)) {
      if (snapshots.isComing(snapshotId)) throw failed(`its snapshot ${snapshotId} is on its way`)
      await snapshots.fetch(snapshot)
    } else if (isSuspect) await snapshots.repair(snapshot)
    const path = this.#path(audience)
    const isRight = isSuspect ? await isWhole(path, file) : await this.#isThere(audience)
    if (!isRight) {
      await createDirectory(audiencesDirectory(dataDirectory))
      await files.get(file, path)
      log.info({ audienceId: id, byteCount: file.byteLength }, 'fetched an audience')
    }
    if (!this.#isSnapshotThere(audience)) throw failed(`its snapshot ${snapshotId} was removed`)
    if (!isSuspect) return
    known.isSuspect = false
    known.againMs = monotonicMs() + limits.fetchRetryMs
  }

  async #isThere(audience: SharedAudience): Promise<boolean> {
    const found = await stat(this.#path(audience)).catch(() => undefined)
    return this.#isSnapshotThere(audience) && found?.size === audience.file.byteLength
  }

  #isSnapshotThere({ snapshotId }: SharedAudience): boolean {
    return existsSync(join(snapshotsDirectory(this.#options.dataDirectory), snapshotId))
  }

  /** Nobody reads one that is not known; what cannot be removed now is removed later, as what a crash left. */
  #remove(audience: SharedAudience): void {
    void rm(this.#path(audience), { force: true }).catch(() => {})
  }

  #path({ id, snapshotId, expiresMs }: MadeAudience): string {
    const directory = audiencesDirectory(this.#options.dataDirectory)
    return join(directory, audienceName(id, snapshotId, expiresMs).name)
  }

  #live(): Known[] {
    const nowMs = Date.now()
    return [...this.#known.values()].filter(({ audience }) => audience.expiresMs > nowMs)
  }
}

const SLOW = 'it takes longer than a request may'

const newlyKnown = (audience: SharedAudience): Known => {
  return { audience, isHere: false, isSuspect: false, waitingCount: 0, againMs: 0, reason: SLOW }
}

const failed = (reason: string) => new OperatorError('Failed', reason)
