/**
 * Keeps the journal of a machine what the log of its cluster says: it follows the log, copies from another machine what the
 * log keeps no more, and goes on with a log that was made anew. Where neither is possible it waits, and says why: nothing
 * that is whole is given up.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../chain/link.js'
import type { SentBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { nameIn } from './entries.js'
import type { ClusterJournal } from './journal.js'
import type { Beats } from './log/beats.js'
import type { Log } from './log/log.js'
import { MachineLog, type MachineLogFault } from './log/machine-log.js'
import type { AskNode, CopiedGroups } from './questions.js'
import type { NodeReports } from './reports.js'

interface KeeperOptions {
  readonly log: Log
  readonly journal: ClusterJournal
  readonly beats: Beats
  /** Of this machine. */
  readonly name: string
  /** What a machine has behind a batch; undefined where none is there that could say it. */
  readonly copied: (after: Link, generation: string) => Promise<CopiedGroups | undefined>
  /** Something has changed of why this machine cannot go on; undefined when it can. */
  readonly onFault: (fault: KeeperFault | undefined) => void
  /** No machine keeps what comes next: the directory must be begun anew. */
  readonly onGone: () => void
}

/** Asks those that are there, the one with the most batches first. */
export function copiedFrom(reports: NodeReports, ask: AskNode): KeeperOptions['copied'] {
  return async (after, generation) => {
    let isGone = false
    let isOther = false
    const there = reports.ofThoseThere()
    // It has the ids of all batches that a seed may have.
    there.sort(
      (a, b) => b.last.sequence - a.last.sequence || (b.log.place ?? 0) - (a.log.place ?? 0),
    )
    for (const { name, log, last, fault } of there) {
      const isAble = fault === undefined && log.generation === generation && log.place !== undefined
      if (!isAble || last.sequence < after.sequence) continue
      const question = { kind: 'groups', after, generation } as const
      const found = await ask<'groups'>(name, question).catch(() => undefined)
      if (found !== undefined && !found.isGone && !found.isOther) return found
      isGone ||= found?.isGone === true
      isOther ||= found?.isOther === true
    }
    if (isOther) return { isOther }
    return isGone ? { isGone } : undefined
  }
}

/** Why a machine does not go on with its cluster, in a word and for people. */
export interface KeeperFault {
  readonly kind: MachineLogFault['kind'] | 'copying' | 'ahead'
  readonly text: string
}

/** What waiting does not mend, and this machine does. */
type Mended = Extract<MachineLogFault, { readonly kind: 'gone' | 'cut' | 'other' }>

export class LogKeeper {
  readonly #options: KeeperOptions
  #machineLog: MachineLog | undefined
  #fault: KeeperFault | undefined
  #isOver = false
  /** One that is not so far in the log has nothing for this machine that the log keeps no more. */
  #neededPlace = 0
  #stopFollowing: () => void = () => {}

  constructor(options: KeeperOptions) {
    this.#options = options
    void this.#run()
  }

  get fault(): KeeperFault | undefined {
    return this.#fault
  }

  /**
   * @throws RangeError  as a rejection, for a group that is too long
   * @returns undefined where it was not read back in time; it may be in the log, or come
   */
  async append(batches: readonly SentBatch[]): Promise<readonly BatchOutcome[] | undefined> {
    return await this.#machineLog?.append(batches)
  }

  async beat(): Promise<void> {
    await this.#machineLog?.beat()
  }

  stop(): void {
    this.#isOver = true
    this.#machineLog?.stop()
    this.#stopFollowing()
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const isFollowing = this.#options.journal.logPlace !== undefined
      // What another machine has sent may not be what it was: it is asked again.
      await (isFollowing ? this.#follow() : this.#copy()).catch(() => {})
      if (!this.#isOver) await sleep(limits.natsRetryMs)
    }
  }

  /** Follows the log until it says that something else is to be done. */
  async #follow(): Promise<void> {
    const { log, journal, beats, name } = this.#options
    const { generation } = journal
    const fault = await new Promise<Mended | undefined>((resolve) => {
      this.#stopFollowing = () => resolve(undefined)
      const onFault = (fault: MachineLogFault | undefined) => {
        if (fault?.kind === 'gone' || fault?.kind === 'cut' || fault?.kind === 'other')
          resolve(fault)
        else this.#tell(fault && { kind: fault.kind, text: textOf(fault) })
      }
      this.#machineLog = new MachineLog({ log, journal, beats, name, generation, onFault })
    })
    // What it is deciding is in the journal then.
    await this.#machineLog?.stop()
    this.#machineLog = undefined
    if (fault !== undefined && !this.#isOver) await this.#carryOut(fault)
  }

  async #carryOut(fault: Mended): Promise<void> {
    const { journal, beats } = this.#options
    if (fault.kind !== 'other') {
      // Only what it wanted to read once more: it begins later.
      if (fault.kind === 'gone' && fault.first <= journal.place + 1) return
      this.#neededPlace = fault.kind === 'gone' ? fault.first - 1 : fault.place
      beats.skipped()
      return await journal.goOnWith({ generation: journal.generation })
    }
    const { generation, base } = fault
    if (generation === undefined || base === undefined) return this.#tell(IS_OTHER)
    this.#neededPlace = 0
    beats.skipped()
    const { kept } = journal
    const aheadCount = kept.sequence - base.sequence
    if (aheadCount > 0) return this.#tell({ kind: 'ahead', text: aheadText(aheadCount) })
    if (aheadCount < 0) return await journal.goOnWith({ generation })
    if (kept.hash === base.hash) return await journal.goOnWith({ generation, place: 0 })
    this.#tell(IS_OTHER)
  }

  /** Until this machine has all that another one has, and with it a place in the log. */
  async #copy(): Promise<void> {
    const { journal, copied, onGone } = this.#options
    const startedMs = monotonicMs()
    while (!this.#isOver && journal.logPlace === undefined) {
      const { generation } = journal
      const found = await copied(journal.last, generation)
      if (this.#isOver) return
      if (found?.isGone) {
        this.#isOver = true
        return onGone()
      }
      if (found?.isOther) {
        this.#tell({ kind: 'diverged', text: 'other machines have other batches than this one' })
        await sleep(limits.clusterTickMs)
        continue
      }
      const { groups = NOTHING, log } = found ?? {}
      const isFollowing = log?.place !== undefined && log.place >= this.#neededPlace
      if (groups.length > 0 || isFollowing) {
        const bytes = Buffer.from(groups.buffer, groups.byteOffset, groups.length)
        await journal.copy(bytes, isFollowing ? log : { generation })
        continue
      }
      // Others tell of themselves several times in this time.
      const isLate = monotonicMs() - startedMs > limits.clusterHeardMs
      if (!(await this.#goneOnWithOther()) && isLate) this.#tell({ kind: 'copying', text: COPYING })
      await sleep(limits.natsRetryMs)
    }
    this.#options.beats.skipped()
    this.#tell(undefined)
  }

  /** Whether the log was made anew meanwhile: then other machines have no place in the one that this one follows. */
  async #goneOnWithOther(): Promise<boolean> {
    const { log, journal } = this.#options
    const info = await log.info().catch(() => undefined)
    if (info === undefined || info.generation === journal.generation) return false
    await this.#carryOut({ kind: 'other', generation: info.generation, base: info.base })
    return true
  }

  #tell(fault: KeeperFault | undefined): void {
    if (fault?.kind === this.#fault?.kind && fault?.text === this.#fault?.text) return
    this.#fault = fault
    this.#options.onFault(fault)
  }
}

const NOTHING = new Uint8Array()

const COPYING = 'no machine is heard that has what this one lacks, and the log keeps it no more'
const IS_OTHER: KeeperFault = {
  kind: 'other',
  text: 'the log is that of another cluster with the same id, or was made anew without this machine',
}

function aheadText(count: number): string {
  return (
    `this machine has ${count} batches that the log does not have, which was made anew without it: keep its directory, and ` +
    'start it with an empty one'
  )
}

function textOf(fault: Exclude<MachineLogFault, Mended>): string {
  switch (fault.kind) {
    case 'hole':
      return (
        `the server ${fault.server ?? 'of NATS'} lacks message ${fault.place} of the log: its disk is damaged. Stop it, ` +
        'remove its store, and start it again'
      )
    case 'lost':
      return (
        `the log ends with message ${fault.end - 1}, and had ${fault.place}: the servers of NATS have lost their disks. ` +
        '`hickory cluster seed-log` makes it anew'
      )
    case 'missing':
      return (
        'there is no log: the servers of NATS have lost their disks. `hickory cluster seed-log` makes it anew from what ' +
        'machines have'
      )
    case 'changed':
      return (
        `message ${fault.place} of the log is another one than it was: the servers of NATS have lost some. ` +
        '`hickory cluster seed-log` makes it anew'
      )
    case 'diverged':
      return `${nameIn(fault.name)} has another batch ${fault.sequence} than this machine: compare them with \`hickory cluster verify\``
  }
}
