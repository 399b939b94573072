/**
 * Clients of a cluster, who go to machines that say that they are ready, and to another one where there is no answer:
 * those who change recipients, those who ask, and those who opt out.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, seededRandom } from '../../support/random/world.js'
import { type Answer, call } from './calls.js'
import {
  type Box,
  CHANGED_SOURCE,
  mark,
  OPTING_SOURCE,
  phoneOf,
  polygonOf,
  randomBox,
  randomChange,
  type WireChange,
} from './crowd.js'

/** A machine that clients know. */
export interface Reached {
  readonly name: string
  /** Where it is, or was, and is to be. */
  readonly url: string
}

/** What was acknowledged. */
export interface Acknowledged {
  readonly sequence: number
  readonly batchId: string
  readonly changes: readonly WireChange[]
}

/** What was answered: counts, or for a list the sum of the marks of its numbers, too. */
export interface Asked {
  readonly box: Box
  readonly sequence: number
  readonly count: number
  readonly marks: number | undefined
}

/** When something was done that began at a time. */
export interface Done {
  readonly beganMs: number
  readonly endedMs: number
}

export interface ClientOptions {
  readonly seed: number
  readonly peopleCount: number
  readonly optingCount: number
  /** In a batch: from the first to the second, a small one as often as a large one by orders of magnitude. */
  readonly changeCounts: readonly [least: number, most: number]
  /** Then another machine is asked. Two seconds unless given. */
  readonly callMs?: number
}

interface WireRecord {
  readonly Count: number
  readonly Recipients?: readonly { readonly Number: string }[]
}

const CALL_MS = 2_000
const POLL_MS = 200

export class Clients {
  readonly acknowledged: Acknowledged[] = []
  readonly asked: Asked[] = []
  readonly writes: Done[] = []
  readonly reads: Done[] = []
  /** Of reads that asked for what had been acknowledged last, and wait until their machine has it. */
  readonly waitingReads: Done[] = []
  readonly problems: string[] = []
  optOutCount = 0
  /** Lists of machines that were ready, after an opt-out. */
  optOutLists = 0
  changeCount = 0
  /** Of requests that had no answer of a service. */
  readonly faults = new Set<string>()
  readonly #sites: readonly Reached[]
  readonly #options: ClientOptions
  readonly #ready = new Set<Reached>()
  readonly #work: Promise<void>[] = []
  #isOver = false
  #isPaused = false
  #nextBatch = 0
  #nextOptOut = 0
  #lastSequence = 0

  constructor(sites: readonly Reached[], options: ClientOptions) {
    this.#sites = sites
    this.#options = options
  }

  start(counts: { readonly writers: number; readonly readers: number }): void {
    for (const site of this.#sites) this.#work.push(this.#poll(site))
    for (let at = 0; at < counts.writers; at++) this.#work.push(this.#write(this.#random(at)))
    for (let at = 0; at < counts.readers; at++) this.#work.push(this.#read(this.#random(100 + at)))
    this.#work.push(this.#optOut(this.#random(200)))
  }

  get readySites(): readonly Reached[] {
    return [...this.#ready]
  }

  /** Changes wait from now on, questions do not. */
  pauseWrites(isPaused: boolean): void {
    this.#isPaused = isPaused
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#work)
  }

  #random(at: number): Random {
    return seededRandom(this.#options.seed + 1_000_003 * (at + 1))
  }

  /** As a balancer does. */
  async #poll(site: Reached): Promise<void> {
    while (!this.#isOver) {
      if (await isReady(site)) this.#ready.add(site)
      else this.#ready.delete(site)
      await sleep(POLL_MS)
    }
  }

  #pick(random: Random, others: Reached | undefined): Reached {
    const ready = this.readySites.filter((site) => site !== others)
    return random.pick(ready.length > 0 ? ready : this.#sites)
  }

  async #write(random: Random): Promise<void> {
    const { changeCounts, peopleCount, seed } = this.#options
    const [least, most] = changeCounts
    while (!this.#isOver) {
      if (this.#isPaused) {
        await sleep(20)
        continue
      }
      const batchId = `${seed} ${this.#nextBatch++}`
      const length = Math.round(least * (most / least) ** random.unit())
      const changes = Array.from({ length }, () => randomChange(random, peopleCount))
      const path = `/api/sources/${CHANGED_SOURCE}/changes`
      const body = { batchId, allowShrink: true, changes }
      const answer = await this.#untilDone(this.writes, random, (site) =>
        this.#call(site.url + path, { method: 'POST', body }),
      )
      if (answer === undefined) return
      const sequence = Number(answer.json.Sequence)
      this.acknowledged.push({ sequence, batchId, changes })
      this.changeCount += changes.length
      this.#lastSequence = Math.max(this.#lastSequence, sequence)
    }
  }

  async #read(random: Random): Promise<void> {
    while (!this.#isOver) {
      const box = randomBox(random)
      const isList = random.unit() < 0.05
      const waits = random.unit() < 0.2
      const least = waits ? this.#lastSequence : 0
      const body = {
        geoJSON: polygonOf(box),
        sources: [CHANGED_SOURCE],
        ...(!isList && { countsOnly: true }),
        ...(waits && { minSequence: least }),
      }
      const answer = await this.#untilDone(waits ? this.waitingReads : this.reads, random, (site) =>
        this.#call(`${site.url}/api/recipients`, { method: 'POST', body }),
      )
      if (answer === undefined) return
      const { json, headers } = answer
      const sequence = Number(headers['x-sequence'])
      if (sequence < least) this.problems.push(`asked for ${least}, answered by ${sequence}`)
      const { Count: count, Recipients: rows } = json.SourceRecords[0] as WireRecord
      if (isList && rows?.length !== count) {
        this.problems.push(`a list of ${rows?.length} says that it has ${count}`)
      }
      const marks = rows?.reduce((sum, { Number: phone }) => sum + mark(phone), 0)
      this.asked.push({ box, sequence, count, marks })
    }
  }

  /** After it was acknowledged, no list that begins on a machine that is ready has the number. */
  async #optOut(random: Random): Promise<void> {
    const { optingCount } = this.#options
    while (!this.#isOver && this.#nextOptOut < optingCount) {
      const phone = phoneOf(OPTING_SOURCE, this.#nextOptOut++)
      const body = { Numbers: [phone] }
      const answer = await this.#untilDone([], random, (site) =>
        this.#call(`${site.url}/api/suppressions`, { method: 'PUT', body, waitMs: 20_000 }),
      )
      if (answer === undefined) return
      this.optOutCount++
      await Promise.all(this.#sites.map((site) => this.#seekOptedOut(site)))
    }
  }

  async #seekOptedOut(site: Reached): Promise<void> {
    const known = this.#nextOptOut
    if (!(await isReady(site))) return
    const whole = { west: 0, south: 0, east: 400, north: 400 }
    const body = { geoJSON: polygonOf(whole), sources: [OPTING_SOURCE] }
    const answer = await call(`${site.url}/api/recipients`, { method: 'POST', body, waitMs: 5_000 })
    if (answer?.status !== 200) return
    this.optOutLists++
    const { Recipients: rows = [] } = answer.json.SourceRecords[0] as WireRecord
    const numbers = new Set(rows.map(({ Number: phone }) => phone))
    for (let at = 0; at < known; at++) {
      if (!numbers.has(phoneOf(OPTING_SOURCE, at))) continue
      this.problems.push(`${site.name} was ready, and lists number ${at}, who opted out before`)
      return
    }
    if (numbers.size !== this.#options.optingCount - known) {
      this.problems.push(`${site.name} lists ${numbers.size} who have not opted out`)
    }
  }

  #call(url: string, asked: { method: string; body: object; waitMs?: number }) {
    const { callMs: waitMs = CALL_MS } = this.#options
    return call(url, { waitMs, ...asked, onFault: (fault) => this.faults.add(fault) })
  }

  /** Sent again, to another machine if there is one, until it is done. */
  async #untilDone(
    done: Done[],
    random: Random,
    send: (site: Reached) => Promise<Answer | undefined>,
  ): Promise<Answer | undefined> {
    const beganMs = performance.now()
    let last: Reached | undefined
    while (!this.#isOver) {
      const site = this.#pick(random, last)
      last = site
      const answer = await send(site)
      if (answer?.status === 200) {
        done.push({ beganMs, endedMs: performance.now() })
        return answer
      }
      if (answer === undefined) this.#ready.delete(site)
      else if (answer.status !== 503) {
        const { ErrorCode: code } = answer.json.ResponseStatus ?? {}
        this.problems.push(`${site.name} answers ${answer.status} ${code}`)
      }
      await sleep(10)
    }
    return undefined
  }
}

export async function isReady({ url }: Reached): Promise<boolean> {
  return (await call(`${url}/readyz`, { waitMs: 1_000 }))?.status === 200
}
