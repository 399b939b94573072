/**
 * The clipping thread of one front thread: for tasks that may never end or take all memory, one at
 * a time, each ended with its thread when it takes too much.
 *
 * The thread is started by the first task and ended when there has been none for a while, so that
 * it costs nothing where nobody asks.
 *
 * @module
 */
import { once } from 'node:events'
import { Piscina } from 'piscina'
import { beforeDeadline, NO_ANSWER_IN_TIME } from '../deadline.js'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { type Page, privatePage, slotOf } from '../metrics/slots.js'
import { outlineOutcomes } from '../metrics/table.js'
import type { Caller, ClipFailure, ClipOutcome, ClipRunner } from './messages.js'
import type { ClipWorkerData } from './worker-messages.js'

interface ClipPoolOptions {
  /** URL of a module that exports `run`, and `ready`, which does nothing. */
  readonly workerUrl: string
  /** Options of Node.js for the thread; none unless given. */
  readonly workerArgs?: readonly string[]
  readonly log: Log
  /** Where the thread counts. */
  readonly workerData?: ClipWorkerData
  /** Of the front thread. */
  readonly page?: Page
  /** Of the thread. */
  readonly environment: Readonly<Record<string, string>>
  /** How long one task may run; `limits.outlineMs` unless given. */
  readonly runMs?: number
  /** The same while others wait; `limits.outlineSharedMs` unless given. */
  readonly sharedRunMs?: number
  /** The heap that the thread may hold; `limits.clipHeapBytes` unless given. */
  readonly heapBytes?: number
}

const MiB = 1024 * 1024

export class ClipPool implements ClipRunner {
  readonly #options: ClipPoolOptions
  readonly #page: Page
  #piscina: Piscina | undefined
  #loading: Promise<void> | undefined
  #underWayCount = 0
  /** Settled when the last task that was taken on is done. */
  #last: Promise<unknown> = Promise.resolve()
  #closing = false

  constructor(options: ClipPoolOptions) {
    this.#options = options
    this.#page = options.page ?? privatePage()
  }

  async run(
    task: unknown,
    caller: Caller,
    otherwise?: (failure: ClipFailure) => unknown,
  ): Promise<ClipOutcome> {
    if (this.#underWayCount > limits.outlinesQueuedCount) {
      this.#page[OUTCOMES.refused]++
      throw new ServiceError('Overloaded', 'too many outlines are being drawn; try again soon')
    }
    this.#page[OPEN] = ++this.#underWayCount
    const { deadlineMs } = caller
    const enteredMs = performance.now()
    const turn = this.#last.then(async () => {
      if (caller.gone) throw new ServiceError('Unavailable', 'whoever asked has gone')
      caller.waited?.(performance.now() - enteredMs)
      if (otherwise === undefined) return this.#runInTurn(task, deadlineMs)
      const outcome = await this.#runInTurn(task, deadlineMs - limits.outlineDrawMs)
      // At once, since behind others that take too long as well its time would be over.
      if ('value' in outcome) return outcome
      return this.#runInTurn(otherwise(outcome.failure), deadlineMs)
    })
    this.#last = turn
      .catch(() => {})
      .finally(() => {
        this.#page[OPEN] = --this.#underWayCount
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
    const abort = new AbortController()
    const timer = setTimeout(
      () => abort.abort(),
      Math.max(0, Math.min(this.#runMs(), deadlineMs - performance.now())),
    )
    try {
      const value = await piscina.run(task, { signal: abort.signal })
      this.#page[OUTCOMES.done]++
      return { value }
    } catch (error) {
      const failure = abort.signal.aborted ? 'TookTooLong' : failureOf(error)
      this.#page[OUTCOMES[failure]]++
      // The message of a library may quote positions.
      this.#options.log.warn({ failure }, 'a clipping task failed')
      return { failure }
    } finally {
      clearTimeout(timer)
    }
  }

  #runMs(): number {
    const { runMs = limits.outlineMs, sharedRunMs = limits.outlineSharedMs } = this.#options
    return this.#underWayCount > 1 ? Math.min(runMs, sharedRunMs) : runMs
  }

  #create(): Piscina {
    const { workerUrl, workerArgs = [], workerData, environment, log } = this.#options
    const { heapBytes = limits.clipHeapBytes } = this.#options
    const piscina = new Piscina({
      filename: workerUrl,
      name: 'run',
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      maxQueue: limits.outlinesQueuedCount,
      idleTimeout: limits.clipIdleMs,
      closeTimeout: limits.poolCloseMs,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / MiB) },
      env: { ...environment },
      recordTiming: false,
      workerData,
      execArgv: [...workerArgs],
    })
    // Told when a thread dies without a task, as one does that cannot load; Piscina then waits for
    // ever.
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
