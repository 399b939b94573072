/**
 * The levels of the machines of a world, and what is everywhere by the word of a writer. Whatever is wrong throws.
 */
import assert from 'node:assert/strict'
import { EverywhereDesk } from '../../../src/cluster/everywhere.js'
import { createFigures } from '../../../src/cluster/figures.js'
import type { NodeReport } from '../../../src/cluster/node-report.js'
import { NodeReports } from '../../../src/cluster/node-reports.js'
import { OwnLevel } from '../../../src/cluster/own-level.js'
import type { Companion, Later, Machine, World } from './world.js'

export class Levels {
  readonly #maxLagMs: number
  readonly #random: () => number
  /** By the name of a machine that runs. */
  readonly #running = new Map<string, LevelledMachine>()
  /** Clocks of machines, and what their stores have. */
  readonly #rates = new Map<string, { readonly offsetMs: number; readonly rate: number }>()
  readonly #stores = new Map<string, { readonly disk: object; readonly sequence: number }>()
  world: World | undefined
  /** All that a writer has called everywhere. */
  everywhere = 0
  /** How often a writer said so; how often while some machine did not have it; how often a machine was level. */
  readonly counts = { everywhere: 0, withoutSome: 0, level: 0 }

  /** @param random  of its own, so that a world is the same with and without levels */
  constructor(maxLagMs: number, random: () => number) {
    this.#maxLagMs = maxLagMs
    this.#random = random
  }

  readonly companion = (machine: Machine, later: Later): Companion => {
    const companion = new LevelledMachine(this, machine, later)
    this.#running.set(machine.name, companion)
    return companion
  }

  readonly check = (): void => {
    for (const [name, { machine, leftMs, answersBy }] of this.#running) {
      if (!machine.isUp || leftMs === 0) continue
      this.counts.level++
      assert(
        answersBy >= this.everywhere,
        `${name} is level by ${answersBy}, and ${this.everywhere} is everywhere`,
      )
    }
  }

  get maxLagMs(): number {
    return this.#maxLagMs
  }

  get random(): () => number {
    return this.#random
  }

  clockOf({ name, world }: Machine): () => number {
    const drawn = { offsetMs: 1 + 1e6 * this.#random(), rate: 1 + 0.099 * this.#random() }
    const { offsetMs, rate } = this.#rates.get(name) ?? drawn
    this.#rates.set(name, { offsetMs, rate })
    return () => offsetMs + rate * world.nowMs
  }

  /** What the store of a machine has: of another disk, what that begins with. */
  storedBy({ name, disk }: Machine): number {
    const store = this.#stores.get(name)
    return store?.disk === disk ? store.sequence : disk.base.sequence
  }

  store({ name, disk }: Machine, sequence: number): void {
    this.#stores.set(name, { disk, sequence })
  }

  isEverywhere(sequence: number): void {
    this.everywhere = Math.max(this.everywhere, sequence)
    this.counts.everywhere++
    const isWithout = [...this.#running.values()].some(({ answersBy }) => answersBy < sequence)
    if (isWithout) this.counts.withoutSome++
  }
}

/** Wired as in a machine. */
class LevelledMachine implements Companion {
  readonly machine: Machine
  answersBy: number
  readonly #levels: Levels
  readonly #later: Later
  readonly #level: OwnLevel
  readonly #reports: NodeReports
  readonly #desk: EverywhereDesk
  #number: number
  #wasWriter = false
  #isApplying = false

  constructor(levels: Levels, machine: Machine, later: Later) {
    const { agreement, name, disk } = machine
    assert(agreement !== undefined)
    this.machine = machine
    this.#levels = levels
    this.#later = later
    this.#number = Math.floor(levels.random() * 2 ** 47)
    const nowMs = levels.clockOf(machine)
    this.#reports = new NodeReports(nowMs)
    this.#level = new OwnLevel({
      settings: { name, acks: machine.world.options.acks, maxLagMs: levels.maxLagMs },
      agreement,
      journal: {
        committed: () => disk.committed,
        epochSequence: () => machine.lastSequence('epoch'),
        membersSequence: () => machine.lastSequence('members'),
      },
      reports: this.#reports,
      figures: createFigures(),
      isDraining: () => false,
      nowMs,
    })
    this.#desk = new EverywhereDesk({ name, nowMs, levelMs: levels.maxLagMs }, () =>
      agreement.members().flatMap((member) => (member.name === name ? [] : member.name)),
    )
    this.answersBy = levels.storedBy(machine)
    this.#answer(this.answersBy)
  }

  get leftMs(): number {
    return this.#level.leftMs
  }

  tell(agreement: NodeReport['agreement']): NodeReport {
    this.#level.sent(++this.#number)
    return {
      agreement,
      number: this.#number,
      version: '1',
      answersBy: this.answersBy,
      levelMs: this.#level.leftMs,
      isDraining: false,
      snapshotId: undefined,
      preparedId: undefined,
      echoes: agreement.isWriter ? this.#level.echoes() : this.#reports.numbers(),
    }
  }

  hear(report: NodeReport): void {
    this.#reports.note(report)
    this.changed()
    const { name } = report.agreement
    if (this.machine.agreement?.isWriter) this.#desk.heard(name, report.answersBy)
    this.#level.heard(report)
  }

  tick(): void {
    this.changed()
    this.#desk.look()
    this.#level.confirm()
    this.#apply()
    if (this.#levels.random() < 0.2) this.#wait()
  }

  changed(): void {
    const isWriter = this.machine.agreement?.isWriter ?? false
    if (isWriter === this.#wasWriter) return
    this.#wasWriter = isWriter
    this.#level.begin()
    if (isWriter) this.#desk.begin()
    else this.#desk.end()
  }

  /** Puts what is committed into the store, sometimes late. */
  #apply(): void {
    if (this.#isApplying) return
    this.#isApplying = true
    const { random } = this.#levels
    this.#later(random() < 0.9 ? 50 * random() : 3_000 * random(), () => {
      this.#isApplying = false
      this.#answer(Math.max(this.answersBy, this.machine.disk.committed))
    })
  }

  #answer(sequence: number): void {
    this.answersBy = sequence
    this.#levels.store(this.machine, sequence)
    this.#level.answersBy(sequence)
    this.#desk.answersBy(sequence)
  }

  #wait(): void {
    const { committed } = this.machine.disk
    if (!this.machine.agreement?.isWriter || committed === 0) return
    void this.#desk.until(committed, 60_000).then(({ isEverywhere }) => {
      if (isEverywhere) this.#levels.isEverywhere(committed)
    })
  }
}
