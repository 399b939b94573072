/**
 * Runs tasks on the machines that hold their shards. When a machine does not answer, or takes longer than it nearly always
 * does, others that hold the same shards are asked as well, and the first answer counts: the answers are the
 * same.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { NO_ANSWER_IN_TIME } from '../deadline.js'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Caller, SelectionKind, SelectionTask, Task, TaskResults } from '../pool/tasks.js'
import type { Mask } from '../shard/mask.js'
import type { Holders } from './holders.js'
import type { Others } from './spread-runner.js'
import {
  decodeOutcome,
  encodeTask,
  type SentTask,
  type TaskOutcome,
  type TaskRefusal,
} from './task-codec.js'

/** The way to other machines. */
interface TaskWay {
  /** Rejects where a machine is not there, or does not answer in time. */
  ask(machine: string, question: Uint8Array, waitMs: number): Promise<Uint8Array>
}

interface OtherMachinesOptions {
  readonly way: TaskWay
  readonly snapshotId: string
  readonly holders: Holders
  /** All shards that a machine holds, as tasks name them. */
  readonly heldBy: (machine: string) => readonly number[]
  /** The name of this thread, which no other one in the cluster has. */
  readonly askerId: string
  /** Told of every task: which machine, how long, and whether another one had to be asked. */
  readonly onAsked?: (asked: { readonly ms: number; readonly isAnswered: boolean }) => void
}

/** What a machine did not do. */
class NotDone extends Error {
  readonly refusal: TaskRefusal

  constructor(refusal: TaskRefusal, message: string) {
    super(message)
    this.refusal = refusal
  }
}

export class OtherMachines implements Others {
  readonly #options: OtherMachinesOptions
  readonly #known = new Map<string, KnownMachine>()

  constructor(options: OtherMachinesOptions) {
    this.#options = options
  }

  async run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    const none: ReadonlySet<string> = new Set()
    try {
      if ('shardIndex' in task) {
        return (await this.#rows(task, caller, none)) as TaskResults[Kind]
      }
      const selection = task as SelectionTask<SelectionKind>
      const { missing, kind, shardIndexes } = selection
      const results: unknown[] = []
      const places = [...shardIndexes.keys()]
      const take = (at: number, found: unknown) => {
        results[at] = found
      }
      const lose = (at: number) => {
        missing?.add(shardIndexes[at])
        take(at, kind === 'count' ? 0 : NOBODY)
      }
      const patient = missing === undefined ? caller : impatient(caller)
      await this.#parts(selection, places, patient, none, take, missing && lose)
      return results as unknown as TaskResults[Kind]
    } catch (fault) {
      throw faultOf(fault)
    }
  }

  async #rows(
    task: Extract<Task, { shardIndex: number }>,
    caller: Caller,
    without: ReadonlySet<string>,
  ): Promise<unknown> {
    const [machine] = this.#ranked(task.shardIndex, without)
    if (machine === undefined) throw noHolder(without)
    return await this.#hedged(machine, task, caller, (isAway) =>
      this.#rows(task, caller, isAway(without)),
    )
  }

  /**
   * @param places  of some of the shards of the task
   * @param lose  receives shards that no machine can be asked for; without it, the task fails
   */
  async #parts(
    task: SelectionTask<SelectionKind>,
    places: readonly number[],
    caller: Caller,
    without: ReadonlySet<string>,
    take: (place: number, found: unknown) => void,
    lose?: (place: number) => void,
  ): Promise<void> {
    const parts = this.#dealt(task, places, without, lose)
    await Promise.all(
      [...parts].map(async ([machine, own]) => {
        const part = {
          ...task,
          shardIndexes: own.map((at) => task.shardIndexes[at]),
          ...(task.given && { given: own.map((at) => task.given?.[at] ?? NOBODY) }),
        }
        const found = await this.#hedged(machine, part as Task, caller, async (isAway) => {
          const others: unknown[] = []
          await this.#parts(task, own, caller, isAway(without), (at, each) => {
            others[own.indexOf(at)] = each
          })
          return others
        }).catch((fault: unknown) => {
          const isLost = fault instanceof ServiceError && fault.code !== 'TooComplex'
          if (lose === undefined || !isLost) throw fault
          for (const at of own) lose(at)
        })
        if (found === undefined) return
        for (const [i, at] of own.entries()) take(at, (found as readonly unknown[])[i])
      }),
    )
  }

  /** As few machines as may be: each shard to one that has others already, if it holds it. */
  #dealt(
    { shardIndexes }: SelectionTask<SelectionKind>,
    places: readonly number[],
    without: ReadonlySet<string>,
    lose: ((place: number) => void) | undefined,
  ): Map<string, number[]> {
    const parts = new Map<string, number[]>()
    for (const at of places) {
      const ranked = this.#ranked(shardIndexes[at], without)
      const machine = ranked.find((each) => parts.has(each)) ?? ranked[0]
      if (machine === undefined) {
        if (lose === undefined) throw noHolder(without)
        lose(at)
        continue
      }
      const own = parts.get(machine)
      if (own === undefined) parts.set(machine, [at])
      else own.push(at)
    }
    return parts
  }

  /** Those that hold a shard, those that have answered lately first. */
  #ranked(shardIndex: number, without: ReadonlySet<string>): string[] {
    const nowMs = performance.now()
    const machines = this.#options.holders.of(shardIndex).filter((each) => !without.has(each))
    const isAway = (machine: string) => Number(this.#knownOf(machine).awayUntilMs > nowMs)
    return machines.sort((left, right) => isAway(left) - isAway(right))
  }

  /**
   * @param otherwise  asks others for the same; given what adds this machine to those that are not to be asked
   */
  #hedged(
    machine: string,
    task: Task,
    caller: Caller,
    otherwise: (isAway: (without: ReadonlySet<string>) => ReadonlySet<string>) => Promise<unknown>,
  ): Promise<unknown> {
    const isAway = (without: ReadonlySet<string>) => new Set([...without, machine])
    return new Promise((resolve, reject) => {
      let openCount = 1
      let isElsewhere = false
      let first: unknown
      const fail = (fault: unknown) => {
        first ??= fault
        if (--openCount === 0) reject(faultOf(first))
      }
      const askOthers = () => {
        if (isElsewhere || caller.gone) return
        isElsewhere = true
        openCount++
        otherwise(isAway).then(resolve, fail)
      }
      const timer = setTimeout(askOthers, this.#knownOf(machine).hedgeMs(task))
      this.#ask(machine, task, caller).then(
        (result) => {
          clearTimeout(timer)
          resolve(result)
        },
        (fault: unknown) => {
          clearTimeout(timer)
          // What the task itself is to blame for is so everywhere.
          if (fault instanceof NotDone && fault.refusal === 'TooComplex') {
            return reject(faultOf(fault))
          }
          askOthers()
          fail(fault)
        },
      )
    })
  }

  async #ask(machine: string, task: Task, caller: Caller): Promise<unknown> {
    const known = this.#knownOf(machine)
    const startedMs = performance.now()
    const leftMs = caller.deadlineMs - startedMs
    if (leftMs <= 0) throw new NotDone('Unavailable', NO_ANSWER_IN_TIME)
    try {
      let outcome = await this.#sent(machine, task, leftMs, false)
      if ('refusal' in outcome && outcome.refusal === 'UnknownMask') {
        outcome = await this.#sent(machine, task, caller.deadlineMs - performance.now(), true)
      }
      const ms = performance.now() - startedMs
      this.#options.onAsked?.({ ms, isAnswered: true })
      if ('refusal' in outcome) {
        if (outcome.refusal === 'NotHere') known.isAwayNow()
        throw new NotDone(outcome.refusal, outcome.message)
      }
      known.answered(task, ms)
      const { result } = outcome
      return task.kind === 'encode' ? { ...(result as object), release: () => {} } : result
    } catch (fault) {
      if (fault instanceof NotDone) throw fault
      this.#options.onAsked?.({ ms: performance.now() - startedMs, isAnswered: false })
      known.isAwayNow()
      throw new NotDone('Unavailable', (fault as Error).message)
    }
  }

  async #sent(
    machine: string,
    task: Task,
    leftMs: number,
    withRuns: boolean,
  ): Promise<TaskOutcome> {
    const { snapshotId, way, heldBy } = this.#options
    const mask = 'mask' in task && task.mask !== null ? task.mask : undefined
    const sent: SentTask = {
      snapshotId,
      task,
      moment: 'moment' in task ? task.moment : 0,
      leftMs,
      mask: mask && {
        key: this.#keyOf(mask),
        runs: withRuns
          ? new Map(heldBy(machine).map((index) => [index, mask.runs[index]]))
          : undefined,
      },
    }
    const waitMs = Math.max(1, Math.ceil(leftMs))
    return decodeOutcome(await way.ask(machine, encodeTask(sent), waitMs), task.kind)
  }

  /**
   * Masks of several moments have the same runs of all shards but deltas, which this machine holds. So they have the same
   * key. Their arrays do not tell: masks without a recipient in a shard share one that is empty.
   */
  #keyOf({ id, baseId = id }: Mask): string {
    return `${this.#options.askerId} ${baseId}`
  }

  #knownOf(machine: string): KnownMachine {
    let known = this.#known.get(machine)
    if (known === undefined) {
      known = new KnownMachine()
      this.#known.set(machine, known)
    }
    return known
  }
}

const NOBODY = new Uint32Array(0)

/** A caller that takes a part does not wait for the rest for as long as a request may take. */
function impatient(caller: Caller): Caller {
  const deadlineMs = Math.min(caller.deadlineMs, performance.now() + limits.partialWaitMs)
  return {
    deadlineMs,
    get gone() {
      return caller.gone
    },
    whenOver: (listener) => caller.whenOver(listener),
  }
}

/** By the runs of the first shard that another machine holds. */

class KnownMachine {
  /** It has not answered, and is asked after others. */
  awayUntilMs = 0
  readonly #small = new Latencies()
  readonly #large = new Latencies()

  isAwayNow(): void {
    this.awayUntilMs = performance.now() + limits.machineAwayMs
  }

  answered(task: Task, ms: number): void {
    this.awayUntilMs = 0
    this.#of(task).note(ms)
  }

  /** After how long another machine is asked, too. */
  hedgeMs(task: Task): number {
    if (this.awayUntilMs > performance.now()) return limits.hedgeLeastMs
    const highMs = this.#of(task).highMs() ?? limits.hedgeFirstMs
    return Math.min(limits.hedgeMostMs, Math.max(limits.hedgeLeastMs, highMs))
  }

  #of(task: Task): Latencies {
    return 'isLarge' in task && task.isLarge ? this.#large : this.#small
  }
}

function noHolder(without: ReadonlySet<string>): NotDone {
  const names = [...without].join(', ')
  const found = names === '' ? 'no machine is known to hold it' : `${names} did not answer`
  return new NotDone('Unavailable', `a part of the recipients cannot be reached: ${found}`)
}

/** As a client is told. */
function faultOf(fault: unknown): unknown {
  if (!(fault instanceof NotDone)) return fault
  const { refusal, message } = fault
  if (refusal === 'Overloaded') return OVERLOADED
  return new ServiceError(refusal === 'TooComplex' ? 'TooComplex' : 'Unavailable', message)
}

/** This share of the last tasks was answered by then. */
const PART = 0.95
const KEPT_COUNT = 128
const LOOKED_AFTER_COUNT = 16

class Latencies {
  readonly #lastMs: number[] = []
  #next = 0
  #untilLook = 0
  #highMs: number | undefined

  note(ms: number): void {
    this.#lastMs[this.#next] = ms
    this.#next = (this.#next + 1) % KEPT_COUNT
    this.#untilLook--
  }

  /** The 95th percentile; undefined where next to nothing is known. */
  highMs(): number | undefined {
    if (this.#lastMs.length < LOOKED_AFTER_COUNT) return undefined
    if (this.#untilLook <= 0) {
      this.#untilLook = LOOKED_AFTER_COUNT
      const sorted = [...this.#lastMs].sort((left, right) => left - right)
      this.#highMs = sorted[Math.floor(PART * (sorted.length - 1))]
    }
    return this.#highMs
  }
}
