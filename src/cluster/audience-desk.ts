/**
 * The files of audiences on a machine of a cluster: fetches what others have frozen, one audience at a time, and removes what
 * was deleted. Which audiences there are the store says.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createDirectory, giveName, TEMPORARY } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { sha256Of } from '../snapshot/load/sha256.js'
import { audienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import type { SharedAudience } from '../store/audiences.js'
import type { AudienceFiles } from './node-report.js'
import type { SharedFiles } from './shared-files.js'
import { fetchSnapshot, repairSnapshot } from './snapshot-files.js'

interface DeskOptions {
  readonly dataDirectory: string
  readonly get: SharedFiles['get']
  /** Whether a snapshot is fetched anyway. */
  readonly isComing: (snapshotId: string) => boolean
  /** More is here than before, or less. */
  readonly onChange: () => void
  /** By which attempts are told apart: no wall clock. */
  readonly nowMs: () => number
  readonly log: Log
}

/** Whether the files of an audience are here; if not, why. */
export interface Brought {
  readonly isHere: boolean
  readonly reason: string
}

interface Waiting {
  readonly id: string
  readonly resolve: (brought: Brought) => void
}

export class AudienceDesk {
  readonly #options: DeskOptions
  /** By id. */
  #known: ReadonlyMap<string, SharedAudience> = new Map()
  #upTo: number | undefined
  /** Ids of those whose files are here. */
  readonly #here = new Set<string>()
  /** Ids of those that somebody has found damaged here, and nobody has looked over since. */
  readonly #suspect = new Set<string>()
  /** When files were last looked over that somebody had found damaged. */
  readonly #lookedOverMs = new Map<string, number>()
  readonly #failed = new Map<string, { readonly againMs: number; readonly reason: string }>()
  #waiting: readonly Waiting[] = []
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
    this.#known = new Map(audiences.map((audience) => [audience.id, audience]))
    this.#upTo = upTo
    for (const [id, audience] of before) if (!this.#known.has(id)) this.#leave(audience)
    this.look()
  }

  /** What other machines are told; undefined before anything is known. */
  files(): AudienceFiles | undefined {
    if (this.#upTo === undefined) return undefined
    const lacking = this.#live().filter(({ id }) => !this.#here.has(id))
    return { upTo: this.#upTo, lacking: lacking.map(({ entrySequence }) => entrySequence) }
  }

  /** Where the file of an audience with this digest should be; undefined where there is none. */
  pathOf(sha256: string): string | undefined {
    const audience = this.#live().find(({ file }) => file.sha256 === sha256)
    return audience && this.#path(audience)
  }

  audiences(): readonly SharedAudience[] {
    return this.#live()
  }

  /** To be called now and then. */
  look(): void {
    if (this.#isLooking || this.#isStopped || this.#upTo === undefined) return
    this.#isLooking = true
    void this.#look().finally(() => {
      this.#isLooking = false
      // Something may have come in the turn in which nothing more was found.
      if (this.#next() !== undefined) this.look()
    })
  }

  /**
   * Resolves when the files of an audience are here, or not in time: they are fetched all the same.
   *
   * @param isDamaged  whether somebody has found other bytes in them than were written
   */
  async bring(id: string, isDamaged: boolean, waitMs: number): Promise<Brought> {
    const audience = this.#known.get(id)
    if (audience === undefined) return { isHere: false, reason: 'it is not known any more' }
    if (isDamaged && !this.#isLookedOver(id)) this.#suspect.add(id)
    if (this.#suspect.has(id) || !(await this.#isThere(audience))) {
      if (this.#here.delete(id)) this.#options.onChange()
    }
    if (this.#here.has(id)) return HERE
    const brought = this.#within(id, waitMs)
    this.look()
    return await brought
  }

  stop(): void {
    this.#isStopped = true
  }

  async #look(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      await this.#fetch(next)
      if (this.#isStopped) return
    }
  }

  /** The one for which somebody waits, or the oldest. */
  #next(): SharedAudience | undefined {
    const nowMs = this.#options.nowMs()
    const lacking = this.#live().filter(
      ({ id }) => !this.#here.has(id) && (this.#failed.get(id)?.againMs ?? 0) <= nowMs,
    )
    const isWaitedFor = ({ id }: SharedAudience) => this.#waiting.some((each) => each.id === id)
    return (
      lacking.find(isWaitedFor) ??
      lacking.sort((left, right) => left.entrySequence - right.entrySequence)[0]
    )
  }

  async #fetch(audience: SharedAudience): Promise<void> {
    const { id } = audience
    const { log, onChange } = this.#options
    try {
      await this.#fetchAll(audience)
    } catch (fault) {
      // Faults of JetStream have numbers.
      const { code, message } = fault as { readonly code?: unknown; readonly message: string }
      const reason = fault instanceof OperatorError || typeof code !== 'string' ? message : code
      this.#failed.set(id, { againMs: this.#options.nowMs() + limits.fetchRetryMs, reason })
      log.warn({ audienceId: id, reason }, 'the files of an audience cannot be fetched')
      return
    }
    // Deleted meanwhile, and its file written after that.
    if (!this.#known.has(id)) return this.#leave(audience)
    this.#failed.delete(id)
    this.#here.add(id)
    onChange()
    for (const { resolve } of this.#waiting.filter((each) => each.id === id)) resolve(HERE)
  }

  /**
   * The snapshot first: a file without it would be damaged for whoever looks. Then once more, since only the name of the file
   * keeps others from removing it.
   */
  async #fetchAll(audience: SharedAudience): Promise<void> {
    const { dataDirectory, get, log } = this.#options
    const { id, snapshotId, documents } = audience
    const snapshot = { id: snapshotId, documents }
    const isSuspect = this.#suspect.has(id)
    await this.#fetchSnapshot(audience)
    if (isSuspect) {
      const replacedCount = await repairSnapshot(dataDirectory, snapshot, get)
      if (replacedCount > 0) {
        log.warn({ snapshotId, replacedCount }, 'fetched what was damaged of a snapshot')
      }
    }
    await this.#fetchFile(audience, isSuspect)
    if (!this.#isSnapshotThere(audience)) throw gone(audience)
    if (!isSuspect) return
    this.#suspect.delete(id)
    this.#lookedOverMs.set(id, this.#options.nowMs())
  }

  async #fetchSnapshot({ snapshotId, documents }: SharedAudience): Promise<void> {
    const { dataDirectory, get, isComing, log } = this.#options
    if (existsSync(join(snapshotsDirectory(dataDirectory), snapshotId))) return
    if (isComing(snapshotId)) {
      throw new OperatorError('Failed', `the snapshot ${snapshotId} is on its way to this machine`)
    }
    const staging = 'fetch-for-audiences'
    await fetchSnapshot(dataDirectory, { id: snapshotId, documents }, { get, staging })
    log.info({ snapshotId }, 'fetched a snapshot for an audience')
  }

  async #fetchFile(audience: SharedAudience, isSuspect: boolean): Promise<void> {
    const { dataDirectory, get, log } = this.#options
    const { id, file } = audience
    const path = this.#path(audience)
    const isOfSize = await hasSize(path, file.byteLength)
    if (isOfSize && (!isSuspect || (await sha256Of(path)) === file.sha256)) return
    const directory = audiencesDirectory(dataDirectory)
    const temporary = join(directory, id + TEMPORARY)
    await createDirectory(directory)
    if (!(await get(file, temporary, () => {}))) throw gone(audience)
    await giveName(temporary, path)
    log.info({ audienceId: id, byteCount: file.byteLength }, 'fetched an audience')
  }

  async #isThere(audience: SharedAudience): Promise<boolean> {
    if (!this.#isSnapshotThere(audience)) return false
    return await hasSize(this.#path(audience), audience.file.byteLength)
  }

  #isSnapshotThere({ snapshotId }: SharedAudience): boolean {
    return existsSync(join(snapshotsDirectory(this.#options.dataDirectory), snapshotId))
  }

  /** What is not right then cannot be made so by looking again. */
  #isLookedOver(id: string): boolean {
    const atMs = this.#lookedOverMs.get(id)
    return atMs !== undefined && this.#options.nowMs() - atMs < limits.fetchRetryMs
  }

  async #within(id: string, waitMs: number): Promise<Brought> {
    let waiting: Waiting | undefined
    let timer: NodeJS.Timeout | undefined
    const brought = new Promise<Brought>((resolve) => {
      waiting = { id, resolve }
      this.#waiting = [...this.#waiting, waiting]
      const late = () => this.#failed.get(id)?.reason ?? 'it takes longer than a request may'
      timer = setTimeout(() => resolve({ isHere: false, reason: late() }), waitMs)
    })
    try {
      return await brought
    } finally {
      clearTimeout(timer)
      this.#waiting = this.#waiting.filter((each) => each !== waiting)
    }
  }

  /** Nobody reads one that is not known; what cannot be removed now is removed later, as what a crash left. */
  #leave(audience: SharedAudience): void {
    const { id } = audience
    this.#here.delete(id)
    this.#suspect.delete(id)
    this.#failed.delete(id)
    this.#lookedOverMs.delete(id)
    void rm(this.#path(audience), { force: true }).catch(() => {})
  }

  #path({ id, snapshotId, expiresMs }: SharedAudience): string {
    const directory = audiencesDirectory(this.#options.dataDirectory)
    return join(directory, audienceName(id, snapshotId, expiresMs).name)
  }

  #live(): SharedAudience[] {
    const nowMs = Date.now()
    return [...this.#known.values()].filter(({ expiresMs }) => expiresMs > nowMs)
  }
}

const HERE: Brought = { isHere: true, reason: '' }

function gone({ id }: SharedAudience): OperatorError {
  return new OperatorError('Failed', `no machine that is there has the files of the audience ${id}`)
}

async function hasSize(path: string, byteLength: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.size === byteLength
}
