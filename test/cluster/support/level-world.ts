/**
 * Machines that tell each other what makes them level, with clocks of their own, on a network that does what a list of
 * steps says. The agreement is Raft in a few lines; `OwnLevel`, `NodeReports` and `EverywhereDesk` are wired as a machine
 * wires them.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { committedBy } from '../../../src/cluster/agreement/majority.js'
import type { Member } from '../../../src/cluster/agreement/messages.js'
import { EverywhereDesk } from '../../../src/cluster/everywhere.js'
import { createFigures } from '../../../src/cluster/figures.js'
import type { NodeReport } from '../../../src/cluster/node-report.js'
import { NodeReports } from '../../../src/cluster/node-reports.js'
import { OwnLevel } from '../../../src/cluster/own-level.js'

/** How a clock differs from that of the world. */
export interface Clock {
  readonly offsetMs: number
  /** The fastest one of a world is at most a tenth faster than the slowest one. */
  readonly rate: number
}

/** Machines by their places, or some of them as bits; a fraction chooses among what is there. */
export type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  /** Some hear only each other from now on, and so do all others. */
  | { readonly kind: 'split'; readonly some: number }
  /** All tell those whom they reach, and it arrives at once; but for some. */
  | { readonly kind: 'exchange'; readonly from: number; readonly to: number }
  /** What is on its way arrives in any order, twice or never, however the network is split. */
  | { readonly kind: 'report'; readonly at: number }
  | { readonly kind: 'deliver' | 'lose' | 'repeat'; readonly which: number }
  /** Whoever writes makes an entry; waits until all answer by what is committed; looks for whom it still waits. */
  | { readonly kind: 'append' | 'wait' | 'look' }
  /** Answers by what is committed. */
  | { readonly kind: 'apply'; readonly some: number }
  | { readonly kind: 'campaign'; readonly at: number; readonly voters: number }
  /** For whoever campaigned last, and had no answer yet. */
  | { readonly kind: 'vote' | 'restart'; readonly at: number }

interface Told {
  readonly to: number
  readonly report: NodeReport
  /** The journal as it was: groups travel with reports here. */
  readonly journal: readonly number[]
}

const MAX_LAG_MS = 1_000

export class LevelWorld {
  nowMs = 0
  /** All that can be level no more without it, by what a writer has said. */
  everywhere = 0
  /** How often some machine was level, or a writer has said so, to tell that a run was about something. */
  readonly counts = { level: 0, everywhere: 0, withoutSilent: 0, writers: 0 }
  readonly machines: readonly LevelMachine[]
  readonly members: readonly Member[]
  #onTheWay: Told[] = []
  #candidate: { readonly machine: LevelMachine; readonly epoch: number; votes: number } | undefined
  /** Of the two sides of a network that is split. */
  #side = ALL
  #numbers = 1_000
  #epochs = 0

  constructor(clocks: readonly Clock[]) {
    this.members = clocks.map((_, at) => ({ name: `m${at}`, incarnation: 'first' }))
    this.machines = clocks.map((clock, at) => new LevelMachine(this, at, clock))
  }

  /** Where the numbers of the reports of a process begin: far from those of all others. */
  drawNumber(): number {
    this.#numbers = (this.#numbers * 48_271) % 2_147_483_647
    return this.#numbers * 10_000
  }

  /** @throws AssertionError  when a machine is level without what a writer has called everywhere */
  async do(step: Step): Promise<void> {
    this.#carryOut(step)
    // A desk resolves in the step, and tells of it behind that.
    await Promise.resolve()
    for (const { name, isLevel, answersBy } of this.machines) {
      if (!isLevel) continue
      this.counts.level++
      assert(
        answersBy >= this.everywhere,
        `${name} is level by ${answersBy}, not ${this.everywhere}`,
      )
    }
  }

  #carryOut(step: Step): void {
    switch (step.kind) {
      case 'pass':
        this.nowMs += step.ms
        break
      case 'report':
        this.#onTheWay.push(...this.#told(step.at, ALL))
        break
      case 'deliver': {
        const [told] = this.#onTheWay.splice(this.#chosen(step.which), 1)
        if (told !== undefined) this.machines[told.to].hear(told.report, told.journal)
        break
      }
      case 'lose':
        this.#onTheWay.splice(this.#chosen(step.which), 1)
        break
      case 'repeat': {
        const told = this.#onTheWay[this.#chosen(step.which)]
        if (told !== undefined) this.#onTheWay.push(told)
        break
      }
      case 'split':
        this.#side = step.some
        break
      case 'exchange':
        for (const { at } of this.#some(step.from)) {
          for (const { to, report, journal } of this.#told(at, step.to & this.#reachedFrom(at))) {
            this.machines[to].hear(report, journal)
          }
        }
        break
      case 'append':
      case 'wait':
      case 'look':
        for (const machine of this.machines) machine[step.kind]()
        break
      case 'apply':
        for (const machine of this.#some(step.some)) machine.apply()
        break
      case 'campaign':
        this.#campaign(step.at, step.voters)
        break
      case 'vote':
        this.#vote(step.at)
        break
      case 'restart':
        this.machines[step.at].restart()
        break
    }
  }

  #reachedFrom(at: number): number {
    return (this.#side >> at) & 1 ? this.#side : ~this.#side
  }

  #told(at: number, to: number): Told[] {
    const machine = this.machines[at]
    const report = machine.tell()
    const journal = [...machine.journal]
    return this.#some(to).flatMap((other) =>
      other.at === at ? [] : { to: other.at, report, journal },
    )
  }

  #some(bits: number): LevelMachine[] {
    return this.machines.filter(({ at }) => (bits >> at) & 1)
  }

  /** Rather what was sent long ago. */
  #chosen(which: number): number {
    return Math.floor(which ** 2 * this.#onTheWay.length)
  }

  #campaign(at: number, voters: number): void {
    const machine = this.machines[at]
    machine.promise(++this.#epochs)
    this.#candidate = { machine, epoch: this.#epochs, votes: 1 << at }
    for (const voter of this.#some(voters & this.#reachedFrom(at))) this.#vote(voter.at)
  }

  #vote(at: number): void {
    if (this.#candidate === undefined) return
    const { machine, epoch } = this.#candidate
    const voter = this.machines[at]
    if (machine.epoch !== epoch || machine.isWriter) return
    if (voter !== machine && (voter.epoch >= epoch || !machine.isAsFarAs(voter))) return
    voter.promise(epoch)
    this.#candidate.votes |= 1 << at
    if (2 * this.#some(this.#candidate.votes).length > this.machines.length) machine.begin()
  }
}

export const ALL = 255

class LevelMachine {
  readonly at: number
  readonly name: string
  readonly #world: LevelWorld
  readonly #clock: Clock
  epoch = 0
  isWriter = false
  /** The epochs of its records. */
  journal: readonly number[] = []
  answersBy = 0
  #epochStart = 0
  #committed = 0
  #matched = 0
  #number = 0
  #level: OwnLevel
  #reports: NodeReports
  #desk: EverywhereDesk

  constructor(world: LevelWorld, at: number, clock: Clock) {
    this.at = at
    this.name = `m${at}`
    this.#world = world
    this.#clock = clock
    ;[this.#level, this.#reports, this.#desk] = this.#process()
  }

  get isLevel(): boolean {
    return this.#level.leftMs > 0
  }

  isAsFarAs({ journal }: LevelMachine): boolean {
    const own = this.journal.at(-1) ?? 0
    const other = journal.at(-1) ?? 0
    return own === other ? this.journal.length >= journal.length : own > other
  }

  promise(epoch: number): void {
    if (epoch <= this.epoch) return
    this.#stepDown()
    this.epoch = epoch
    this.#matched = this.#committed
  }

  begin(): void {
    this.#world.counts.writers++
    this.isWriter = true
    this.journal = [...this.journal, this.epoch]
    this.#epochStart = this.journal.length
    this.#level.begin()
    this.#desk.begin()
  }

  append(): void {
    if (this.isWriter) this.journal = [...this.journal, this.epoch]
  }

  apply(): void {
    this.answersBy = this.#committed
    this.#level.answersBy(this.#committed)
    this.#desk.answersBy(this.#committed)
  }

  wait(): void {
    if (!this.isWriter || this.#committed === 0) return
    const sequence = this.#committed
    void this.#desk.until(sequence, 20 * MAX_LAG_MS).then(({ isEverywhere }) => {
      if (!isEverywhere) return
      const { counts, machines } = this.#world
      counts.everywhere++
      if (machines.some(({ answersBy }) => answersBy < sequence)) counts.withoutSilent++
      this.#world.everywhere = Math.max(this.#world.everywhere, sequence)
    })
  }

  look(): void {
    this.#desk.look()
    this.#level.confirm()
  }

  /** What is committed is known again when a writer says so; what the store has, it keeps. */
  restart(): void {
    this.isWriter = false
    this.#committed = this.answersBy
    this.#matched = this.#committed
    ;[this.#level, this.#reports, this.#desk] = this.#process()
  }

  tell(): NodeReport {
    this.#level.sent(++this.#number)
    const { name, epoch, isWriter, journal, answersBy } = this
    const last = { sequence: journal.length, hash: '', epoch: journal.at(-1) ?? 0 }
    return {
      agreement: {
        name,
        incarnation: 'first',
        epoch,
        isWriter,
        written: last,
        matched: isWriter ? journal.length : this.#matched,
        committed: this.#committed,
      },
      number: this.#number,
      version: '1',
      answersBy,
      levelMs: this.#level.leftMs,
      isDraining: false,
      snapshotId: undefined,
      preparedId: undefined,
      echoes: isWriter ? this.#level.echoes() : this.#reports.numbers(),
    }
  }

  /** What a report is about comes into the agreement behind all else, as it does where that waits for a disk. */
  hear(report: NodeReport, journal: readonly number[]): void {
    const { name, epoch, isWriter, committed } = report.agreement
    this.#reports.note(report)
    if (this.isWriter) {
      if (epoch === this.epoch) this.#advance()
      this.#desk.heard(name, report.answersBy)
    }
    this.#level.heard(report)
    this.promise(epoch)
    if (isWriter && epoch === this.epoch) this.#copy(journal, committed)
  }

  #copy(journal: readonly number[], committed: number): void {
    const differs = journal.findIndex((epoch, at) => epoch !== this.journal[at])
    if (differs >= 0) this.journal = journal
    assert(differs < 0 || differs >= this.#committed, 'what is committed is taken back')
    this.#matched = Math.max(this.#matched, journal.length)
    this.#committed = Math.max(this.#committed, Math.min(committed, this.#matched))
  }

  #advance(): void {
    const { members } = this.#world
    const matchedOf = ({ name }: Member) => {
      if (name === this.name) return this.journal.length
      const found = this.#reports.of(name)?.agreement
      return found?.epoch === this.epoch ? found.matched : 0
    }
    const reached = committedBy(members.map(matchedOf))
    if (reached >= this.#epochStart) this.#committed = Math.max(this.#committed, reached)
  }

  #stepDown(): void {
    if (!this.isWriter) return
    this.isWriter = false
    this.#level.begin()
    this.#desk.end()
  }

  #process(): [OwnLevel, NodeReports, EverywhereDesk] {
    const nowMs = () => this.#clock.offsetMs + this.#clock.rate * this.#world.nowMs
    const { members } = this.#world
    const { name } = this
    const machine = this
    const reports = new NodeReports(nowMs)
    const level = new OwnLevel({
      settings: { name, acks: 'majority', maxLagMs: MAX_LAG_MS },
      agreement: {
        get epoch() {
          return machine.epoch
        },
        get isWriter() {
          return machine.isWriter
        },
        isMember: () => true,
        members: () => members,
      },
      journal: {
        committed: () => this.#committed,
        epochSequence: () => this.journal.lastIndexOf(this.journal.at(-1) ?? 0) + 1,
        membersSequence: () => 0,
      },
      reports,
      figures: createFigures(),
      isDraining: () => false,
      nowMs,
    })
    level.answersBy(this.answersBy)
    const others = members.flatMap((member) => (member.name === name ? [] : member.name))
    const desk = new EverywhereDesk({ name: 'any', nowMs, levelMs: MAX_LAG_MS }, () => others)
    desk.answersBy(this.answersBy)
    this.#number = this.#world.drawNumber()
    return [level, reports, desk]
  }
}
