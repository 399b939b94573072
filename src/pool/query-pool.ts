/**
 * The query workers of one front thread, as the stages of a request see them: with a bound on the
 * work under way, deadlines, and answers even when a worker dies.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { ShardImage } from '../shard/layout.js'
import { attachedCount, type Control, createControl } from './control.js'
import { beforeDeadline, NO_ANSWER_IN_TIME } from './deadline.js'
import {
  type Caller,
  type QueryRunner,
  sharedClockMs,
  type Task,
  type TaskOutcome,
  type TaskResults,
  type TimedTask,
} from './messages.js'
import { WorkerThreads } from './worker-threads.js'

/** What every worker is born with. */
export interface QueryWorkerData {
  readonly shards: readonly ShardImage[]
  readonly control: Control
  /** Edge tests that one task may take. */
  readonly edgeTestCount: number
}

export interface QueryPool extends QueryRunner {
  /** Ends one worker as a crash would: for tests of what happens then. */
  crashWorker(): Promise<void>
  /** Waits for running tasks, then ends the workers. */
  close(): Promise<void>
}

export interface QueryPoolOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  readonly threadCount: number
  readonly shards: readonly ShardImage[]
  readonly log: Log
  /** How long the workers may take to start; `limits.workerStartMs` unless given. */
  readonly startMs?: number
  /** Edge tests that one task may take; `limits.edgeTestCount` unless given. */
  readonly edgeTestCount?: number
}

/**
 * Starts the workers and waits until each has attached every shard.
 *
 * @throws OperatorError  when they have not in time
 */
export async function startQueryPool(options: QueryPoolOptions): Promise<QueryPool> {
  const { workerUrl, threadCount, shards, log, edgeTestCount = limits.edgeTestCount } = options
  const control = createControl()
  const workerData: QueryWorkerData = { shards, control, edgeTestCount }
  const threads = new WorkerThreads({ workerUrl, threadCount, workerData, log })
  const settled = new AbortController()
  const failed = threads.failure().catch((error: Error) => {
    throw new OperatorError('Failed', `a query worker cannot start: ${error.message}`)
  })
  try {
    await Promise.race([untilAttached(control, options, settled.signal), failed])
  } catch (error) {
    await threads.destroy()
    throw error
  } finally {
    settled.abort()
  }
  return new ThreadedQueryPool(threads, log)
}

async function untilAttached(
  control: Control,
  { threadCount, startMs = limits.workerStartMs }: QueryPoolOptions,
  signal: AbortSignal,
): Promise<void> {
  const giveUpMs = performance.now() + startMs
  while (attachedCount(control) < threadCount) {
    if (performance.now() > giveUpMs) {
      throw new OperatorError(
        'Failed',
        `query workers did not start: ${attachedCount(control)} of ${threadCount} were ready ` +
          `after ${startMs} ms`,
      )
    }
    await sleep(5, undefined, { signal })
  }
}

const FAULT_MESSAGES = {
  TooComplex: 'the shapes of this request cost more work than one request may take; simplify them',
  Unavailable: NO_ANSWER_IN_TIME,
} as const

class ThreadedQueryPool implements QueryPool {
  readonly #threads: WorkerThreads
  readonly #log: Log
  #underWayCount = 0

  constructor(threads: WorkerThreads, log: Log) {
    this.#threads = threads
    this.#log = log
  }

  async run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    // Counted here, since Piscina's own limit leaves out the tasks that workers already hold.
    if (this.#underWayCount >= limits.tasksQueuedCount) {
      throw new ServiceError('Overloaded', 'too many requests are being answered; try again soon')
    }
    this.#underWayCount++
    try {
      const outcome = await this.#runWithRetry<Kind>(task, caller.deadlineMs)
      if ('value' in outcome) return outcome.value
      throw new ServiceError(outcome.fault, FAULT_MESSAGES[outcome.fault])
    } finally {
      this.#underWayCount--
    }
  }

  async crashWorker(): Promise<void> {
    await this.#threads.crashOne()
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }

  /**
   * Every task gives the same answer on every worker, so one that a worker took with it when it
   * died is simply run again.
   */
  async #runWithRetry<Kind extends Task['kind']>(
    task: Task,
    deadlineMs: number,
  ): Promise<TaskOutcome<Kind>> {
    const expiresMs = sharedClockMs() + deadlineMs - performance.now()
    const timed: TimedTask = { ...task, expiresMs }
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = await beforeDeadline(this.#threads.run(timed), deadlineMs)
        return outcome as TaskOutcome<Kind>
      } catch (error) {
        if (error instanceof ServiceError) throw error
        const { message } = error as Error
        this.#log.debug({ kind: task.kind, attempt, reason: message }, 'a query task failed')
        if (attempt >= limits.taskAttemptCount) {
          throw new ServiceError('Unavailable', 'the query workers are restarting; try again soon')
        }
      }
    }
  }
}
