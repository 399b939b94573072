/**
 * A level machine answers by all that was acknowledged `maxLagMs` ago, and by all that was said to be everywhere: whatever
 * the network, the log, the machines and their clocks do.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Beats } from '../../../src/cluster/log/beats.js'
import { limits } from '../../../src/limits.js'
import { byTier } from '../../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const MAX_LAG_MS = 1_000

/** The fastest clock is at most a tenth faster than the slowest one. */
interface Clock {
  readonly offsetMs: number
  readonly rate: number
}

/** Machines by their places; a fraction chooses among what is there. */
type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  /** Puts a beat, or a batch, on its way into the log. */
  | { readonly kind: 'beat' | 'append'; readonly at: number }
  /** Something that is on its way is in the log, or never will be. */
  | { readonly kind: 'land' | 'sink'; readonly which: number }
  /** Reads so many messages of the log. */
  | { readonly kind: 'read'; readonly at: number; readonly count: number }
  /** Answers by all that it has read. */
  | { readonly kind: 'apply' | 'report' | 'wait' | 'look' | 'restart'; readonly at: number }
  /** A report arrives at all others, in any order, or at none; but may arrive again. */
  | { readonly kind: 'deliver' | 'lose'; readonly which: number }
  /** All work as they should for a moment. */
  | { readonly kind: 'calm'; readonly at: number }

type Sent =
  | {
      readonly kind: 'beat'
      readonly machine: SimulatedMachine
      readonly beats: Beats
      readonly number: number
    }
  | { readonly kind: 'batch' }

interface Report {
  readonly name: string
  readonly answersBy: number
}

class World {
  nowMs = 0
  readonly counts = { level: 0, everywhere: 0, withoutSilent: 0 }
  readonly machines: readonly SimulatedMachine[]
  readonly log: Sent[] = []
  readonly onTheWay: Sent[] = []
  readonly reports: Report[] = []
  /** When each batch was first read by a machine: before that, it is not acknowledged. */
  readonly acknowledgedMs: number[] = []
  everywhere = 0

  constructor(clocks: readonly Clock[]) {
    this.machines = clocks.map((clock, at) => new SimulatedMachine(this, `m${at}`, clock))
  }

  get members() {
    return this.machines.map(({ name }) => ({ name, maxLagMs: MAX_LAG_MS }))
  }

  /** @throws AssertionError  where a machine is level that must not be */
  async do(step: Step): Promise<void> {
    this.#carryOut(step)
    // What was waited for resolves behind the step.
    await Promise.resolve()
    for (const machine of this.machines) {
      if (!machine.isLevel) continue
      this.counts.level++
      const { name, answersBy, clock } = machine
      assert(
        answersBy >= this.everywhere,
        `${name} is level by ${answersBy}, not ${this.everywhere}`,
      )
      const missing = this.acknowledgedMs.findIndex(
        (atMs, at) => at >= answersBy && (this.nowMs - atMs) * clock.rate > MAX_LAG_MS,
      )
      assert.equal(missing, -1, `${name} is level by ${answersBy} without batch ${missing + 1}`)
    }
  }

  #carryOut(step: Step): void {
    switch (step.kind) {
      case 'pass':
        this.nowMs += step.ms
        break
      case 'beat':
        this.onTheWay.push(this.machines[step.at].beat())
        break
      case 'append':
        this.onTheWay.push({ kind: 'batch' })
        break
      case 'land':
        this.log.push(...chosen(this.onTheWay, step.which))
        break
      case 'sink':
        chosen(this.onTheWay, step.which)
        break
      case 'read':
        this.machines[step.at].read(step.count)
        break
      case 'report':
        this.reports.push(this.machines[step.at].report())
        break
      case 'deliver':
        for (const report of chosen(this.reports, step.which)) this.#tell(report)
        break
      case 'lose':
        chosen(this.reports, step.which)
        break
      case 'calm':
        this.log.push(...this.onTheWay.splice(0), this.machines[step.at].beat())
        for (const machine of this.machines) {
          machine.read(this.log.length)
          machine.apply()
        }
        for (const machine of this.machines) this.#tell(machine.report())
        break
      default:
        this.machines[step.at][step.kind]()
    }
  }

  #tell(report: Report): void {
    for (const machine of this.machines) machine.hear(report)
  }
}

/** Takes one, rather one of long ago; none where there is none. */
function chosen<T>(from: T[], which: number): T[] {
  return from.splice(Math.floor(which ** 2 * from.length), 1)
}

class SimulatedMachine {
  readonly name: string
  readonly clock: Clock
  readonly #world: World
  answersBy = 0
  /** What was read of the log, and the batches among that. */
  #place = 0
  #sequence = 0
  #lastNumber = 0
  #beats: Beats

  constructor(world: World, name: string, clock: Clock) {
    this.#world = world
    this.name = name
    this.clock = clock
    this.#beats = this.#begun()
  }

  get isLevel(): boolean {
    return this.#nowMs() < this.#beats.levelUntilMs
  }

  beat(): Sent {
    this.#beats.sent(++this.#lastNumber)
    return { kind: 'beat', machine: this, beats: this.#beats, number: this.#lastNumber }
  }

  read(count: number): void {
    const { log, acknowledgedMs, nowMs } = this.#world
    for (const sent of log.slice(this.#place, this.#place + count)) {
      this.#place++
      if (sent.kind === 'batch') {
        acknowledgedMs[this.#sequence++] ??= nowMs
      } else if (sent.beats === this.#beats) this.#beats.readBack(sent.number, this.#sequence)
      else this.#beats.read(sent.machine.name, this.#sequence)
    }
  }

  apply(): void {
    this.answersBy = this.#sequence
    this.#beats.answersBy(this.answersBy)
  }

  report(): Report {
    return { name: this.name, answersBy: this.answersBy }
  }

  hear({ name, answersBy }: Report): void {
    if (name !== this.name) this.#beats.reported(name, answersBy)
  }

  wait(): void {
    const sequence = this.#sequence
    const world = this.#world
    const beats = this.#beats
    void beats.until(sequence, 4 * MAX_LAG_MS).then(({ isEverywhere }) => {
      // A process that has ended tells nothing.
      if (!isEverywhere || beats !== this.#beats) return
      world.everywhere = Math.max(world.everywhere, sequence)
      world.counts.everywhere++
      if (world.machines.some(({ answersBy }) => answersBy < sequence)) world.counts.withoutSilent++
    })
  }

  look(): void {
    this.#beats.look()
  }

  restart(): void {
    this.answersBy = 0
    this.#beats = this.#begun()
  }

  #begun(): Beats {
    return new Beats({
      name: this.name,
      nowMs: () => this.#nowMs(),
      members: () => this.#world.members,
      isMember: () => true,
    })
  }

  #nowMs(): number {
    return this.clock.offsetMs + this.#world.nowMs * this.clock.rate
  }
}

const clock: fc.Arbitrary<Clock> = fc.record({
  offsetMs: fc.integer({ min: 1, max: 1_000_000 }),
  rate: fc.oneof(fc.constantFrom(1, 1.099), fc.double({ min: 1, max: 1.099, noNaN: true })),
})

function stepsOf(machineCount: number): fc.Arbitrary<Step> {
  const at = fc.nat({ max: machineCount - 1 })
  const which = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const ms = fc.oneof(...[40, 400, 1_200].map((max) => fc.integer({ min: max / 2, max })))
  const count = fc.integer({ min: 1, max: 8 })
  const kind = <K extends Step['kind']>(...kinds: K[]) => fc.constantFrom(...kinds)
  const weighted: [weight: number, step: fc.Arbitrary<Step>][] = [
    [8, fc.record({ kind: kind('pass'), ms })],
    [6, fc.record({ kind: kind('beat', 'append'), at })],
    [5, fc.record({ kind: kind('land'), which })],
    [1, fc.record({ kind: kind('sink', 'lose'), which })],
    [8, fc.record({ kind: kind('read'), at, count })],
    [8, fc.record({ kind: kind('apply', 'wait', 'look'), at })],
    [3, fc.record({ kind: kind('report'), at })],
    [3, fc.record({ kind: kind('deliver'), which })],
    [2, fc.record({ kind: kind('calm'), at })],
    [1, fc.record({ kind: kind('restart'), at })],
  ]
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

for (const machineCount of [1, 3]) {
  t.test(`no machine of ${machineCount} is level without what it must have`, async (t) => {
    const counts = { level: 0, everywhere: 0, withoutSilent: 0 }
    const clocks = fc.array(clock, { minLength: machineCount, maxLength: machineCount })
    const steps = fc.array(stepsOf(machineCount), { minLength: 10, maxLength: 100, size: 'max' })
    await fc.assert(
      fc.asyncProperty(clocks, steps, async (clocks, steps) => {
        const world = new World(clocks)
        for (const step of steps) await world.do(step)
        for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
          counts[name] += world.counts[name]
        }
      }),
      { seed, numRuns: byTier({ ci: 2_000, soak: 100_000 }) },
    )
    t.comment(JSON.stringify(counts))
    for (const [what, count] of Object.entries(counts)) t.ok(count > 0, `${what}: ${count}`)
  })
}

/** Beats of `a`, whose clock is where a test puts it. */
class Alone {
  nowMs = 0
  readonly beats: Beats
  readonly #t: Test

  constructor(t: Test, members: readonly { readonly name: string; readonly maxLagMs?: number }[]) {
    this.#t = t
    this.beats = new Beats({
      name: 'a',
      nowMs: () => this.nowMs,
      members: () => members.map((member) => ({ maxLagMs: MAX_LAG_MS, ...member })),
      isMember: () => true,
    })
  }

  /** What is waited for holds then, and not before. */
  async isWaitedFor(sequence: number, untilMs: number): Promise<void> {
    const waits = this.beats.until(sequence, 60 * MAX_LAG_MS)
    this.nowMs = untilMs - 1
    this.beats.look()
    this.#t.equal(await Promise.race([waits, Promise.resolve('waits')]), 'waits')
    this.nowMs = untilMs + 1
    this.beats.look()
    this.#t.same(await waits, { isEverywhere: true, waitingFor: [] })
  }
}

const both = [{ name: 'a' }, { name: 'b' }]

t.test('more beats than are noted make no machine level for less', async (t) => {
  const alone = new Alone(t, both)
  alone.nowMs = 5_000
  for (let at = 0; at <= 2 * limits.beatsNotedCount; at++) alone.beats.read('b', at)
  alone.beats.answersBy(10_000)
  await alone.isWaitedFor(1, 5_000 + 1.1 * MAX_LAG_MS)
})

t.test('the last beat before a batch is waited for, and none behind it', async (t) => {
  const alone = new Alone(t, both)
  const { beats } = alone
  beats.answersBy(10)
  beats.read('b', 3)
  alone.nowMs = 800
  beats.read('b', 6)
  beats.read('b', 7)
  await alone.isWaitedFor(7, 800 + 1.1 * MAX_LAG_MS)
})

t.test('a machine waits for itself, too, where its own beats may make it level', async (t) => {
  const alone = new Alone(t, [{ name: 'a' }])
  const { beats } = alone
  alone.nowMs = 2_000
  beats.sent(1)
  beats.readBack(1, 5)
  beats.answersBy(4)
  t.equal(beats.levelUntilMs, Number.NEGATIVE_INFINITY)
  const waited = alone.isWaitedFor(7, 2_000 + MAX_LAG_MS)
  beats.answersBy(5)
  t.equal(beats.levelUntilMs, 2_000 + MAX_LAG_MS)
  await waited
})

t.test('a machine is level as a member alone, others for as long as theirs say', async (t) => {
  const members = [{ name: 'b', maxLagMs: 5 * MAX_LAG_MS }]
  const alone = new Alone(t, members)
  const { beats } = alone
  beats.answersBy(9)
  beats.sent(1)
  beats.readBack(1, 0)
  t.equal(beats.levelUntilMs, Number.NEGATIVE_INFINITY)
  members.push({ name: 'a', maxLagMs: MAX_LAG_MS })
  beats.sent(2)
  beats.readBack(2, 0)
  t.equal(beats.levelUntilMs, MAX_LAG_MS)
  beats.read('b', 3)
  await alone.isWaitedFor(5, 1.1 * 5 * MAX_LAG_MS)
})

t.test('a wait says for which machines it waits', async (t) => {
  const alone = new Alone(t, [...both, { name: 'c' }])
  alone.beats.reported('b', 7)
  const waits = alone.beats.until(7, 100)
  alone.nowMs = 101
  alone.beats.look()
  t.same(await waits, { isEverywhere: false, waitingFor: ['c'] })
})

t.test('a machine whose answers go back is not level until they are there again', async (t) => {
  const alone = new Alone(t, both)
  const { beats } = alone
  for (const [number, answersBy, nowMs] of [
    [1, 100, 1_000],
    [2, 40, 1_010],
  ] as const) {
    alone.nowMs = nowMs
    beats.answersBy(answersBy)
    t.equal(beats.levelUntilMs, Number.NEGATIVE_INFINITY)
    beats.sent(number)
    beats.readBack(number, 100)
    if (answersBy < 100) t.equal(beats.levelUntilMs, Number.NEGATIVE_INFINITY)
    beats.answersBy(100)
    t.equal(beats.levelUntilMs, nowMs + MAX_LAG_MS)
  }
})
