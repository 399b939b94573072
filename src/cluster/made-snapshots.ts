/**
 * Snapshots that commands of this directory make current, until the cluster has decided on them. What goes on from the one
 * that the cluster has announced last is announced, and counts if no other machine was first. Otherwise CURRENT names again
 * what the cluster serves, and the snapshot is removed.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { listSnapshots, readCurrent, writeCurrent } from '../snapshot/directory.js'
import { type Placement, readPlacement, writePlacement } from '../snapshot/placement.js'
import { withCompactionLock } from '../snapshot/publish/lock.js'
import { removeSnapshot } from '../snapshot/publish/make-current.js'
import { readLineage } from '../snapshot/retention/history.js'
import type { Announcement } from './facts.js'
import type { Published } from './questions.js'
import type { RetainingOptions } from './retaining.js'
import { type AnnouncedSnapshot, areSame, type SnapshotFiles } from './snapshot-files.js'

export interface MadeOptions extends RetainingOptions {
  readonly snapshots: SnapshotFiles
  /** Which machines hold what of a snapshot that is announced; undefined where each holds all. */
  readonly placement: () => Placement | undefined
}

interface Made {
  readonly id: string
  /** What CURRENT named before, and this directory went on from; undefined in a cluster that has announced none. */
  readonly base: string | undefined
  /** Those of this directory that it was made from since then, and itself: what becomes of it becomes of them. */
  readonly ids: readonly string[]
  /** An announcement behind this one may be its own. */
  readonly since: number
  documents: AnnouncedSnapshot['documents']
  /** It may be in the log, which has not said so. */
  isSent: boolean
  /** The machine that was first. */
  refusedBy: string | undefined
}

export class MadeSnapshots {
  readonly #options: MadeOptions
  /** What CURRENT named when the cluster had decided on that; undefined before the first look. */
  #named: { readonly id: string | undefined } | undefined
  #made: Made | undefined
  /** By id, the last ones. */
  readonly #outcomes = new Map<string, Published>()
  /** Made here, and still here. */
  readonly #refusedIds = new Set<string>()
  /** Until then the object store is given no files: it did not take some. */
  #putAgainMs = 0
  /** Since when a snapshot is here, as far as this process has seen it. */
  #sinceMs: ReadonlyMap<string, number> = new Map()

  constructor(options: MadeOptions) {
    this.#options = options
  }

  /** One call at a time. */
  async look(): Promise<void> {
    const { dataDirectory } = this.#options
    this.#named ??= await this.#fallIntoStep()
    if (this.#named === undefined) return
    const current = await readCurrent(dataDirectory)
    const isNew = current !== (this.#made ?? this.#named).id
    // One that may be in the log is decided on first.
    const isFree = this.#made?.isSent !== true
    if (current !== undefined && isNew && isFree) await this.#note(current, this.#named.id)
    if (this.#made !== undefined) return await this.#decide(this.#made)
    await this.#list(monotonicMs())
    if (this.#refusedIds.size > 0) await this.#locked(() => this.#removeRefused())
  }

  /** Names what the cluster has decided on, unless a command has made another one current meanwhile, or is about to. */
  async nameCurrent(id: string): Promise<void> {
    if (this.#made !== undefined || this.#named === undefined || this.#named.id === id) return
    await this.#nameInsteadOf(this.#named.id, id)
  }

  /** What has become of a snapshot that a command has made current here. */
  async published(id: string): Promise<Published> {
    const current = await readCurrent(this.#options.dataDirectory).catch(() => undefined)
    const isLookedAt = current === (this.#made ?? this.#named)?.id
    // It may have been announced before, and be current again.
    const outcome = current !== id || isLookedAt ? this.#outcomes.get(id) : undefined
    return outcome ?? { kind: 'waiting' }
  }

  /** Whether a snapshot is here as the cluster has announced it. */
  async isHere(id: string): Promise<boolean> {
    const { journal, snapshots } = this.#options
    const announced = journal.facts.announcements.findLast((one) => one.id === id)
    if (announced !== undefined) return await snapshots.has(announced)
    return !this.#refusedIds.has(id) && (await snapshots.documentsOf(id)) !== undefined
  }

  /** Whether another snapshot may take the place of one with its id; to be called with the lock. */
  async mayReplace(id: string): Promise<boolean> {
    // What a command has made is to be noted first, so that it is told what became of that.
    const isNoted = this.#made?.id === id && this.#made.refusedBy !== undefined
    if (this.#named === undefined || this.#named.id === id || isNoted) return true
    return (await readCurrent(this.#options.dataDirectory)) !== id
  }

  /**
   * What is current and was never announced as a service starts may be from before another import: to announce it would
   * take that back.
   */
  async #fallIntoStep(): Promise<{ readonly id: string | undefined } | undefined> {
    const { dataDirectory, journal, log } = this.#options
    const { announced, switchedId } = journal.facts
    await this.#list(Number.NEGATIVE_INFINITY)
    // Of the machine that founds the cluster.
    if (announced === undefined) return { id: undefined }
    const current = await readCurrent(dataDirectory).catch(() => undefined)
    const isDecided = current === announced.id || current === switchedId
    if (current !== undefined && isDecided && (await this.isHere(current))) {
      if (current === announced.id) this.#outcomes.set(current, { kind: 'announced' })
      return { id: current }
    }
    const id = await this.#target()
    if (id === undefined || !(await this.#nameInsteadOf(current, id))) return undefined
    log.warn({ snapshotId: current, switchedId: id }, 'another snapshot was current than is served')
    return { id }
  }

  async #list(nowMs: number): Promise<void> {
    const ids = await listSnapshots(this.#options.dataDirectory)
    this.#sinceMs = new Map(ids.map((id) => [id, this.#sinceMs.get(id) ?? nowMs]))
  }

  /** A command has made a snapshot current. */
  async #note(id: string, namedId: string | undefined): Promise<void> {
    const { dataDirectory, journal, snapshots } = this.#options
    const before = this.#made
    this.#made = undefined
    if (id === namedId) return
    const documents = await snapshots.documentsOf(id)
    if (documents === undefined) throw new Error(`CURRENT names ${id}, which is not there`)
    const lineage = await readLineage(dataDirectory, id, await listSnapshots(dataDirectory))
    const at = lineage.indexOf(namedId ?? '')
    const count = at < 0 ? limits.announcementsKnownCount : at
    const made: Made = {
      id,
      base: namedId,
      ids: lineage.slice(0, count),
      since: journal.last.sequence,
      documents,
      isSent: false,
      refusedBy: undefined,
    }
    // It may go on from that one.
    if (!this.#isAnnounced(made)) made.refusedBy = before?.refusedBy
    this.#made = made
    this.#tell(made.ids, { kind: 'waiting' })
    if (made.refusedBy !== undefined) this.#refuse(made, made.refusedBy)
  }

  async #decide(made: Made): Promise<void> {
    const { facts } = this.#options.journal
    const isOpen = () => facts.announced?.id === made.base
    if (made.refusedBy === undefined) {
      const isToPrepare = !made.isSent && isOpen() && !this.#isAnnounced(made)
      if (isToPrepare && !(await this.#prepare(made))) return
      const isToSend = made.isSent || isOpen()
      if (isToSend && !this.#isAnnounced(made)) await this.#send(made)
      if (this.#isAnnounced(made)) return this.#accept(made)
      // Others have come, and gone back.
      if (isOpen()) return
      this.#refuse(made, this.#firstBehind(made.base))
    }
    const id = await this.#target()
    if (id !== undefined) await this.#nameInsteadOf(made.id, id)
  }

  /**
   * Places it, and puts its files where the others get them, whatever becomes of this machine then.
   *
   * @returns whether they are there; where not, it is not tried at once again, and not for each change
   */
  async #prepare(made: Made): Promise<boolean> {
    if (monotonicMs() < this.#putAgainMs) return false
    const { dataDirectory, snapshots, placement, log } = this.#options
    const { id } = made
    const wanted = placement()
    // One that was placed stays where it is: others may have heard of it.
    if (wanted !== undefined && (await readPlacement(dataDirectory, id)) === undefined) {
      await writePlacement(dataDirectory, id, wanted)
    }
    made.documents = (await snapshots.documentsOf(id)) ?? made.documents
    try {
      await snapshots.put(made)
      return true
    } catch (fault) {
      this.#putAgainMs = monotonicMs() + limits.fetchRetryMs
      const reason = (fault as Error).message
      log.warn({ snapshotId: id, reason }, 'the object store of NATS does not take a snapshot')
      return false
    }
  }

  /** @throws  where it is not known whether machines take it: what is read back later comes behind the first one */
  async #send(made: Made): Promise<void> {
    const { id, base, documents } = made
    const { name: by, enter } = this.#options
    made.isSent = true
    const based = base === undefined ? {} : { base }
    const sequence = await enter({ kind: 'snapshot', id, by, documents, ...based })
    if (sequence === undefined) throw new Error('it is not known whether machines take a snapshot')
    made.isSent = false
  }

  #accept(made: Made): void {
    this.#named = { id: made.id }
    this.#made = undefined
    this.#tell(made.ids, { kind: 'announced' })
    this.#options.log.info({ snapshotId: made.id }, 'announced a snapshot')
  }

  #refuse(made: Made, by: string): void {
    made.refusedBy = by
    this.#tell(made.ids, { kind: 'refused', by })
    // What was here before, a command has gone back to.
    const isNew = (id: string) =>
      monotonicMs() - (this.#sinceMs.get(id) ?? monotonicMs()) < limits.snapshotMadeMs
    for (const id of made.ids.filter(isNew)) this.#refusedIds.add(id)
    this.#options.log.warn(
      { snapshotId: made.id, by },
      'another machine has announced a snapshot first',
    )
  }

  #tell(ids: readonly string[], outcome: Published): void {
    for (const id of ids.toReversed()) {
      this.#outcomes.delete(id)
      this.#outcomes.set(id, outcome)
    }
    for (const id of this.#outcomes.keys()) {
      if (this.#outcomes.size > limits.announcementsKnownCount) this.#outcomes.delete(id)
    }
  }

  /** It, or the same one by another machine that has gone back to it, too. */
  #isAnnounced({ id, documents, since }: Made): boolean {
    const { announced, announcements } = this.#options.journal.facts
    const isLate = (one: Announcement) => one === announced || one.sequence > since
    return announcements.some(
      (one) => isLate(one) && one.id === id && areSame(one.documents, documents),
    )
  }

  #firstBehind(base: string | undefined): string {
    const { name, journal } = this.#options
    const { announced, announcements } = journal.facts
    const at = announcements.findLastIndex(({ id }) => id === base)
    const first = at < 0 ? undefined : announcements[at + 1]
    return (first ?? announced)?.by ?? name
  }

  /** What CURRENT is to name: what is served or, where that is not here any more, what will be. */
  async #target(): Promise<string | undefined> {
    const { switchedId, announced } = this.#options.journal.facts
    for (const id of [switchedId, announced?.id]) {
      if (id !== undefined && (await this.isHere(id))) return id
    }
    return undefined
  }

  /** @returns whether CURRENT has named what it was thought to name, and no command is at work */
  async #nameInsteadOf(before: string | undefined, id: string): Promise<boolean> {
    const { dataDirectory } = this.#options
    return await this.#locked(async () => {
      if ((await readCurrent(dataDirectory).catch(() => undefined)) !== before) return false
      await writeCurrent(dataDirectory, id)
      this.#named = { id }
      this.#made = undefined
      await this.#removeRefused()
      return true
    })
  }

  /** What goes on from the snapshot that CURRENT names is all made: none is under way. */
  async #locked(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await withCompactionLock(this.#options.dataDirectory, work)
    } catch (fault) {
      if (fault instanceof OperatorError && fault.code === 'Locked') return false
      throw fault
    }
  }

  /** To be called with the lock. */
  async #removeRefused(): Promise<boolean> {
    const { dataDirectory, served, snapshots, log } = this.#options
    for (const id of this.#refusedIds) {
      const { servedId, preparedId } = served() ?? {}
      if (id === servedId || id === preparedId) continue
      const isThere = (await snapshots.documentsOf(id)) !== undefined
      if (isThere && !(await this.isHere(id))) {
        await removeSnapshot(dataDirectory, id)
        log.info({ snapshotId: id }, 'removed a snapshot that machines do not take')
      }
      this.#refusedIds.delete(id)
    }
    return true
  }
}
