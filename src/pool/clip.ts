/**
 * The clipping thread of one front thread: for tasks that may never end or take all memory. They run one at
 * a time, and the thread is terminated when one takes too much.
 *
 * The thread is started by the first task and ended when it has been idle for a while.
 *
 * @module
 */
import { once } from 'node:events'
import { Piscina } from 'piscina'
import { beforeDeadline, NO_ANSWER_IN_TIME } from '../deadline.js'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { type MetricSlots, type MetricsMemory, slotOf } from '../metrics/memory.js'
import { outlineOutcomes } from '../metrics/table.js'
import {
  type Caller,
  CLIENT_DISCONNECTED,
  type ClipFailure,
  type ClipOutcome,
  type ClipRunner,
} from './tasks.js'

interface ClipPoolOptions {
  /** URL of a module that exports `run`, and `ready`, which does nothing. */
  readonly workerUrl: string
  /** Options of Node.js for the thread. */
  readonly workerArgs: readonly string[]
  readonly workerData: ClipWorkerData
  /** The environment variables of the thread. */
  readonly environment: Readonly<Record<string, string>>
  /** The metrics of the front thread. */
  readonly page: MetricSlots
  readonly log: Log
}

/** The data that a clipping thread starts with. */
export interface ClipWorkerData {
  readonly metrics: MetricsMemory
  /** The front thread that it belongs to. */
  readonly frontIndex: number
}

const MiB = 1024 * 1024

export class ClipPool implements ClipRunner {
  readonly #options: ClipPoolOptions
  #piscina: Piscina | undefined
  #loading: Promise<void> | undefined
  #underWayCount = 0
  /** Settled when the last accepted task is done. */
  #last: Promise<unknown> = Promise.resolve()
  #closing = false

  constructor(options: ClipPoolOptions) {
    this.#options = options
  }

  async run(
    task: unknown,
    caller: Caller,
    otherwise?: (failure: ClipFailure) => unknown,
  ): Promise<ClipOutcome> {
    const { page } = this.#options
    if (this.#underWayCount > limits.outlinesQueuedCount) {
      page[OUTCOMES.refused]++
      throw new ServiceError('Overloaded', 'too many outlines are being drawn; try again soon')
    }
    page[OPEN] = ++this.#underWayCount
    const { deadlineMs } = caller
    const enteredMs = performance.now()
    const turn = this.#last.then(async () => {
      if (caller.gone) throw new ServiceError('Unavailable', CLIENT_DISCONNECTED)
      caller.waited?.(performance.now() - enteredMs)
      if (otherwise === undefined) return this.#runInTurn(task, deadlineMs)
      const outcome = await this.#runInTurn(task, deadlineMs - limits.outlineDrawMs)
      // At once: behind others that take too long as well it would time out.
      if ('value' in outcome) return outcome
      return this.#runInTurn(otherwise(outcome.failure), deadlineMs)
    })
    this.#last = turn
      .catch(() => {})
      .finally(() => {
        page[OPEN] = --this.#underWayCount
      })
    return await beforeDeadline(turn, deadlineMs)
  }

  /** Waits for the running task, then ends the thread. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#last
    await this.#piscina?.close()
  }

  async #runInTurn(task: unknown, deadlineMs: number): Promise<ClipOutcome> {
    if (this.#closing || performance.now() >= deadlineMs) {
      throw new ServiceError('Unavailable', NO_ANSWER_IN_TIME)
    }
    this.#piscina ??= this.#create()
    const piscina = this.#piscina
    // Until the thread is loaded it must not be ended: Node.js would abort the whole process.
    this.#loading ??= loaded(piscina).finally(() => {
      this.#loading = undefined
    })
    await beforeDeadline(this.#loading, deadlineMs)
    const { page, log } = this.#options
    const maxMs = this.#underWayCount > 1 ? limits.outlineSharedMs : limits.outlineMs
    const abort = new AbortController()
    const timer = setTimeout(
      () => abort.abort(),
      Math.max(0, Math.min(maxMs, deadlineMs - performance.now())),
    )
    try {
      const value = await piscina.run(task, { signal: abort.signal })
      page[OUTCOMES.done]++
      return { value }
    } catch (error) {
      const failure = abort.signal.aborted ? 'TookTooLong' : failureOf(error)
      page[OUTCOMES[failure]]++
      // The message of a library may quote positions.
      log.warn({ failure }, 'a clipping task failed')
      return { failure }
    } finally {
      clearTimeout(timer)
    }
  }

  #create(): Piscina {
    const { workerUrl, workerArgs, workerData, environment, log } = this.#options
    const piscina = new Piscina({
      filename: workerUrl,
      name: 'run',
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      maxQueue: limits.outlinesQueuedCount,
      idleTimeout: limits.clipIdleMs,
      closeTimeout: limits.poolCloseMs,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(limits.clipHeapBytes / MiB) },
      env: { ...environment },
      recordTiming: false,
      workerData,
      execArgv: [...workerArgs],
    })
    // Emitted when a thread dies without a task, for example because it cannot load. Piscina then waits
    // for ever.
    piscina.on('error', (fault: Error) => {
      log.error(describeFault(fault), 'the clipping thread failed')
      if (this.#piscina === piscina) this.#piscina = undefined
    })
    return piscina
  }
}

const OPEN = slotOf('hickory_outlines_open')
const OUTCOMES = Object.fromEntries(
  outlineOutcomes.map((outcome) => [outcome, slotOf('hickory_outlines_total', outcome)]),
) as Readonly<Record<(typeof outlineOutcomes)[number], number>>

/** Resolves when there is a thread that can take a task. */
async function loaded(piscina: Piscina): Promise<void> {
  const settled = new AbortController()
  const failed = once(piscina, 'error', { signal: settled.signal }).then(() => {
    throw new ServiceError('Unavailable', 'the clipping thread cannot start')
  })
  try {
    await Promise.race([piscina.run(undefined, { name: 'ready' }), failed])
  } finally {
    settled.abort()
    failed.catch(() => {})
  }
}

function failureOf(error: unknown): ClipFailure {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'OutOfMemory'
    : 'Failed'
}
