/**
 * Sends the numbered requests of a seed to a running service, many at a time, and watches it.
 *
 * @module
 */
import type { Service } from '../support/service/hickory.js'
import { createHealthCheck } from './health-check.js'
import { judgeOutcome, judgePoked } from './judge.js'
import { createLane, type Lane } from './lane.js'
import { type Plan, planOf } from './plan.js'
import { poke } from './poke.js'
import { createLogWatch, residentBytes } from './process-watch.js'
import type { FuzzWorld } from './world.js'

export interface FuzzOptions {
  readonly service: Service
  readonly world: FuzzWorld
  readonly seed: number
  readonly requestCount: number
}

export interface Finding {
  readonly what: string
  readonly seed: number
  /** The request that found it, or those that were under way. */
  readonly plans: readonly { readonly number: number; readonly plan: Plan }[]
}

export interface FuzzReport {
  readonly sentCount: number
  readonly seconds: number
  /** Answers by status, and what else happened. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
  /** At the first batch after the warm-up, now, and at the most. */
  readonly residentBytes: { readonly warm: number; readonly now: number; readonly most: number }
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const run = new Run(options)
  await run.play()
  return run.report()
}

const LANE_COUNT = 32
const BATCH_REQUEST_COUNT = 2_000
/** Beyond these, what else is found is most often the same. */
const FINDING_COUNT_MAX = 20
/** Of connections that are left to the server to close. */
const PARKED_COUNT_MAX = 200
/** From then on no more of them, so that the end needs not wait for them. */
const PARKED_SHARE = 0.6
/** Of the requests, in which memory finds its size. */
const WARM_UP_SHARE = 0.25

class Run {
  readonly #options: FuzzOptions
  readonly #port: number
  readonly #lanes: Lane[]
  readonly #faultsOfLog: () => string[]
  readonly #checkHealth: () => Promise<string | undefined>
  readonly #startedMs = performance.now()
  readonly #underWay = new Map<number, Plan>()
  readonly #parked = new Set<Promise<void>>()
  readonly #outcomes: Record<string, number> = {}
  readonly #findings: Finding[] = []
  #resident = { warm: 0, now: 0, most: 0 }
  #nextNumber = 0
  #hasExited = false

  constructor(options: FuzzOptions) {
    const { service, world } = options
    this.#options = options
    this.#port = Number(new URL(service.url).port)
    this.#lanes = Array.from({ length: LANE_COUNT }, () => createLane(this.#port))
    this.#faultsOfLog = createLogWatch(() => service.output())
    this.#checkHealth = createHealthCheck(service.url, world)
    service.process.once('exit', (code, signal) => {
      this.#hasExited = true
      this.#find(`the process exited: ${code ?? signal}`, [...this.#underWay])
    })
  }

  async play(): Promise<void> {
    const { requestCount } = this.#options
    while (!this.#isOver && this.#nextNumber < requestCount) {
      const batchEnd = Math.min(requestCount, this.#nextNumber + BATCH_REQUEST_COUNT)
      await Promise.all(this.#lanes.map((lane) => this.#playUntil(batchEnd, lane)))
      if (!this.#hasExited) await this.#check()
    }
    await Promise.all(this.#parked)
    if (!this.#hasExited) await this.#check()
    for (const lane of this.#lanes) lane.close()
  }

  report(): FuzzReport {
    return {
      sentCount: this.#nextNumber,
      seconds: (performance.now() - this.#startedMs) / 1000,
      outcomes: this.#outcomes,
      findings: this.#findings,
      residentBytes: this.#resident,
    }
  }

  get #isOver(): boolean {
    return this.#hasExited || this.#findings.length >= FINDING_COUNT_MAX
  }

  async #playUntil(batchEnd: number, lane: Lane): Promise<void> {
    while (!this.#isOver && this.#nextNumber < batchEnd) {
      const number = this.#nextNumber++
      const plan = this.#hurried(planOf(this.#options.world, this.#options.seed, number), number)
      this.#underWay.set(number, plan)
      const played = this.#playOne(number, plan, lane)
      if (plan.ending === 'answer' || plan.ending === 'reset') await played
      else this.#park(played)
    }
  }

  /** Leaves only some connections to the server to close, which takes it seconds. */
  #hurried(plan: Plan, number: number): Plan {
    const isLate = number > PARKED_SHARE * this.#options.requestCount
    const waits = plan.ending === 'wait' || plan.ending === 'halfClose'
    if (waits && (isLate || this.#parked.size >= PARKED_COUNT_MAX)) {
      return { ...plan, ending: 'reset' }
    }
    return plan
  }

  async #playOne(number: number, plan: Plan, lane: Lane): Promise<void> {
    const fault = plan.ending === 'answer' ? await this.#ask(plan, lane) : await this.#poke(plan)
    // What the others were doing when the process ended is told once.
    if (fault !== undefined && !this.#hasExited) this.#find(fault, [[number, plan]])
    if (!this.#hasExited) this.#underWay.delete(number)
  }

  async #ask(plan: Plan, lane: Lane): Promise<string | undefined> {
    const outcome = await lane.ask(plan)
    this.#count(outcome.kind === 'answered' ? String(outcome.answer.status) : outcome.kind)
    return judgeOutcome(outcome, plan)
  }

  async #poke(plan: Plan): Promise<string | undefined> {
    const poked = await poke(this.#port, plan)
    this.#count(`raw ${poked.statuses[0] ?? 'unanswered'}`)
    return judgePoked(poked)
  }

  #park(played: Promise<void>): void {
    this.#parked.add(played)
    void played.finally(() => this.#parked.delete(played))
  }

  async #check(): Promise<void> {
    const { service, requestCount } = this.#options
    const fault = await this.#checkHealth()
    for (const what of [fault, ...this.#faultsOfLog()]) {
      if (what !== undefined) this.#find(what, [])
    }
    const now = residentBytes(service.process.pid) ?? 0
    const isWarm = this.#nextNumber >= WARM_UP_SHARE * requestCount
    const warm = this.#resident.warm || (isWarm ? now : 0)
    this.#resident = { warm, now, most: Math.max(now, this.#resident.most) }
  }

  #count(outcome: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1
  }

  #find(what: string, plans: readonly (readonly [number, Plan])[]): void {
    const { seed } = this.#options
    const isKnown = plans.length === 0 && this.#findings.some((other) => other.what === what)
    if (isKnown) return
    this.#findings.push({ what, seed, plans: plans.map(([number, plan]) => ({ number, plan })) })
  }
}
