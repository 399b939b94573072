/**
 * The query workers of one front thread, as the stages of a request see them: with a bound on the
 * work under way, deadlines, and answers even when a worker dies.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { createMetricsMemory, type MetricsMemory } from '../metrics/memory.js'
import { type Page, privatePage } from '../metrics/slots.js'
import type { Increment } from '../shard/delta/increment.js'
import type { ShardImage } from '../shard/layout.js'
import { attachedCount, type Control, createControl } from './control.js'
import type { Caller, QueryRunner, Task, TaskResults } from './messages.js'
import { Scheduler } from './scheduler.js'
import type { QueryWorkerData } from './worker-messages.js'
import { WorkerThreads } from './worker-threads.js'

interface QueryPoolOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  /** Options of Node.js for the workers; none unless given. */
  readonly workerArgs?: readonly string[]
  readonly threadCount: number
  readonly shards: readonly ShardImage[]
  /** All of the snapshot, in its order; those of the shards unless given. */
  readonly sourceIds?: readonly number[] | undefined
  readonly log: Log
  /** How long the workers may take to start; `limits.workerStartMs` unless given. */
  readonly startMs?: number
  /** Edge tests that one task may take; `limits.edgeTestCount` unless given. */
  readonly edgeTestCount?: number
  /** Where the workers count; where nobody reads unless given. */
  readonly metrics?: MetricsMemory | undefined
  /** Of the front thread. */
  readonly page?: Page | undefined
}

/**
 * Starts the workers and waits until each has attached every shard.
 *
 * @throws OperatorError  when they have not in time
 */
export async function startQueryPool(options: QueryPoolOptions): Promise<QueryPool> {
  const { workerUrl, workerArgs = [], threadCount, shards, log } = options
  const { sourceIds = [...new Set(shards.map(({ sourceId }) => sourceId))] } = options
  const { edgeTestCount = limits.edgeTestCount, page = privatePage() } = options
  const { metrics = createMetricsMemory(1, threadCount) } = options
  const control = createControl()
  const workerData: QueryWorkerData = { shards, sourceIds, control, edgeTestCount, metrics }
  const threads = new WorkerThreads({ workerUrl, workerArgs, threadCount, workerData, page, log })
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
  return new QueryPool(threads, log, page)
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

export class QueryPool implements QueryRunner {
  readonly #threads: WorkerThreads
  readonly #scheduler: Scheduler

  constructor(threads: WorkerThreads, log: Log, page: Page) {
    this.#threads = threads
    this.#scheduler = new Scheduler(threads, log, page)
  }

  run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    return this.#scheduler.run(task, caller) as Promise<TaskResults[Kind]>
  }

  /** Lets tasks ask for a later moment of the snapshot: for its own, at the latest. */
  tell(increment: Increment): void {
    this.#threads.tell(increment)
  }

  /** Whether a new request with a body of so many bytes would wait too long. */
  isFull(bodyBytes: number): boolean {
    return this.#scheduler.isFull(bodyBytes)
  }

  /** Ends one worker as a crash would: for tests of what happens then. */
  async crashWorker(): Promise<void> {
    await this.#threads.crashOne()
  }

  /**
   * Refuses all but running tasks, waits for these, and ends the workers; resolves when none of their
   * threads is left, and nothing touches the shards any more.
   */
  async close(): Promise<void> {
    this.#scheduler.stop()
    await this.#threads.close()
  }
}
