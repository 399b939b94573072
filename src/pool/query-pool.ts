/**
 * The query workers of one front thread: always as many as asked for, with a bound on the work under way,
 * deadlines, and answers even when a worker dies.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import {
  type MetricSlots,
  type MetricsMemory,
  releaseWorkerPage,
  slotOf,
} from '../metrics/memory.js'
import { type Arena, releaseZones } from '../shard/arena.js'
import type { Increment } from '../shard/delta/increment.js'
import { IncrementLog } from '../shard/delta/increment-log.js'
import type { ShardImage } from '../shard/layout.js'
import { Channel, type QueryWorkerData } from './channel.js'
import type { QueryThread } from './lanes.js'
import { type QueryThreads, Scheduler } from './scheduler.js'
import type { Caller, QueryRunner, Task, TaskResults } from './tasks.js'

interface QueryPoolOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  /** Options of Node.js for the workers. */
  readonly workerArgs: readonly string[]
  readonly threadCount: number
  readonly shards: readonly ShardImage[]
  /** All of the snapshot, in its order. */
  readonly sourceIds: readonly number[]
  readonly metrics: MetricsMemory
  /** The metrics of the front thread. */
  readonly page: MetricSlots
  readonly log: Log
}

/**
 * Starts the workers and waits until each has attached every shard.
 *
 * @throws OperatorError  when they have not in time
 */
export async function startQueryPool(options: QueryPoolOptions): Promise<QueryPool> {
  const threads = new WorkerThreads(options)
  const settled = new AbortController()
  const failed = threads.failure().catch((error: Error) => {
    throw new OperatorError('Failed', `a query worker cannot start: ${error.message}`)
  })
  try {
    await Promise.race([threads.untilLoaded(settled.signal), failed])
  } catch (error) {
    await threads.destroy()
    throw error
  } finally {
    settled.abort()
  }
  return new QueryPool(threads, options)
}

export class QueryPool implements QueryRunner {
  readonly #threads: WorkerThreads
  readonly #scheduler: Scheduler

  constructor(threads: WorkerThreads, { log, page }: QueryPoolOptions) {
    this.#threads = threads
    this.#scheduler = new Scheduler(threads, log, page)
  }

  run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    return this.#scheduler.run(task, caller) as Promise<TaskResults[Kind]>
  }

  /** After this, tasks may ask for the moment of the increment. */
  addIncrement(increment: Increment): void {
    this.#threads.addIncrement(increment)
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
   * Refuses all but running tasks, waits for these, and ends the workers; resolves when their threads have
   * ended, and nothing uses the shards any more.
   */
  async close(): Promise<void> {
    this.#scheduler.stop()
    await this.#threads.close()
  }
}

/** A worker that has a channel. */
interface ReadyThread extends QueryThread {
  readonly channel: Channel
}

/** A worker in the events of Piscina. */
interface PiscinaWorker {
  readonly id: number
}

/**
 * Piscina replaces a worker that dies, but gives up for good when one dies before it is ready: its tasks
 * then wait for ever. So the number of threads is watched, and an instance that has given up is replaced.
 */
class WorkerThreads implements QueryThreads {
  #ready: readonly ReadyThread[] = []
  onReady: () => void = () => {}

  readonly #options: QueryPoolOptions
  #piscina: Piscina
  #replacement: NodeJS.Timeout | undefined
  /** Replacements since a worker was last loaded. */
  #failedCount = 0
  #closing = false
  readonly #arenas: ReadonlySet<Arena | null>
  readonly #followed = new WeakSet<Worker>()
  readonly #loading = new Set<Worker>()
  /** Workers that have attached every shard since the pool began. */
  #loadedCount = 0
  /** The worker for the task that is being given to Piscina. */
  #wantedId = 0
  /** What came since the snapshot, for workers that start later. */
  readonly #increments = new IncrementLog()
  #unreadCount = 0
  /** Workers that are reading the increments that they were sent. */
  readonly #catchingUp = new Set<ReadyThread>()
  /** One for each thread that has not ended. */
  readonly #exits = new Set<Promise<unknown>>()

  constructor(options: QueryPoolOptions) {
    this.#options = options
    this.#arenas = new Set(options.shards.map((shard) => shard.arena))
    this.#piscina = this.#create()
  }

  get ready(): readonly ReadyThread[] {
    return this.#ready
  }

  #setReady(ready: readonly ReadyThread[]): void {
    this.#options.page[WORKERS] += ready.length - this.#ready.length
    this.#ready = ready
  }

  /** @throws OperatorError  when they have not loaded in time */
  async untilLoaded(signal: AbortSignal): Promise<void> {
    const { threadCount } = this.#options
    const giveUpMs = performance.now() + limits.workerStartMs
    while (this.#loadedCount < threadCount) {
      if (performance.now() > giveUpMs) {
        throw new OperatorError(
          'Failed',
          `query workers did not start: ${this.#loadedCount} of ${threadCount} were ready ` +
            `after ${limits.workerStartMs} ms`,
        )
      }
      await sleep(5, undefined, { signal })
    }
  }

  /** Rejects when a worker fails outside of a task; never resolves. */
  failure(): Promise<never> {
    return new Promise((_, reject) => this.#piscina.once('error', reject))
  }

  /** Sends an increment to all workers, also to those that start later. */
  addIncrement(increment: Increment): void {
    this.#increments.add(increment)
    for (const { channel } of this.#ready) channel.sendIncrement(increment)
    // A worker without tasks reads no messages, and these would pile up.
    if (++this.#unreadCount < limits.incrementsUntakenCount) return
    this.#unreadCount = 0
    for (const thread of this.#ready) this.#catchUp(thread)
  }

  #catchUp(thread: ReadyThread): void {
    if (this.#catchingUp.has(thread)) return
    this.#catchingUp.add(thread)
    const done = () => this.#catchingUp.delete(thread)
    thread.channel.sendTask({ kind: 'catchUp' }, { done, failed: done })
    thread.channel.requestNotify()
  }

  /** Ends one thread as a crash would, unless one is starting. */
  async crashOne(): Promise<void> {
    const { threads } = this.#piscina
    if (this.#isLoading(this.#piscina)) return
    await threads[Math.floor(Math.random() * threads.length)]?.terminate()
  }

  /** Waits for running tasks, then ends the threads; resolves when they have ended. */
  async close(): Promise<void> {
    this.#beginEnd()
    await this.#untilNoneLoads(this.#piscina)
    for (const { channel } of this.ready) channel.close()
    await this.#piscina.close()
    await Promise.all(this.#exits)
  }

  /** Ends the threads as soon as they may be ended. */
  async destroy(): Promise<void> {
    this.#beginEnd()
    await this.#destroy(this.#piscina)
    await Promise.all(this.#exits)
  }

  #beginEnd(): void {
    this.#closing = true
    clearTimeout(this.#replacement)
    this.#followWorkers(this.#piscina)
  }

  async #destroy(piscina: Piscina): Promise<void> {
    await this.#untilNoneLoads(piscina)
    await piscina.destroy()
  }

  /** Node.js aborts the whole process when a thread is terminated while it loads its modules. */
  async #untilNoneLoads(piscina: Piscina): Promise<void> {
    const giveUpMs = performance.now() + limits.workerLoadMs
    while (this.#isLoading(piscina) && performance.now() < giveUpMs) await sleep(5)
  }

  #isLoading(piscina: Piscina): boolean {
    return piscina.threads.some((worker) => this.#loading.has(worker))
  }

  #create(): Piscina {
    const { workerUrl, workerArgs, threadCount, shards, sourceIds, metrics, log } = this.#options
    const { edgeTestCount } = limits
    const piscina = new Piscina({
      filename: workerUrl,
      name: 'run',
      minThreads: threadCount,
      maxThreads: threadCount,
      idleTimeout: Number.POSITIVE_INFINITY,
      loadBalancer: (_task, workers) => workers.find(({ id }) => id === this.#wantedId) ?? null,
      closeTimeout: limits.poolCloseMs,
      recordTiming: false,
      // Not those of this process: a loader or profiler would slow down every restart of a worker.
      execArgv: [...workerArgs],
      workerData: { shards, sourceIds, edgeTestCount, metrics } satisfies QueryWorkerData,
    })
    // Without a listener, a worker that dies while it has no task would end this thread as well.
    piscina.on('error', ({ message }: Error) => {
      log.error({ reason: message }, 'a query worker failed')
    })
    piscina.on('workerCreate', ({ id }: PiscinaWorker) => this.#welcome(piscina, id))
    // Emitted before Piscina has decided whether to start another one, hence a moment later.
    piscina.on('workerDestroy', () => {
      setImmediate(() => {
        this.#followWorkers(piscina)
        this.#replaceGivenUp(piscina)
      })
    })
    this.#followWorkers(piscina)
    return piscina
  }

  /**
   * Releases the zones of each worker when its thread has ended. When Piscina emits that a worker is
   * destroyed, it has only begun to end it: the thread may still write for a while.
   */
  #followWorkers(piscina: Piscina): void {
    for (const worker of piscina.threads) {
      if (this.#followed.has(worker)) continue
      this.#followed.add(worker)
      this.#loading.add(worker)
      // Its first message is sent when its module has run, which attaches the shards.
      worker.once('message', () => {
        this.#loading.delete(worker)
        this.#loadedCount++
        this.#failedCount = 0
      })
      const { threadId } = worker
      const exit = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
        this.#loading.delete(worker)
        releaseWorkerPage(this.#options.metrics, threadId)
        for (const arena of this.#arenas) if (arena !== null) releaseZones(arena, threadId)
        this.#exits.delete(exit)
      })
      this.#exits.add(exit)
    }
  }

  /** A moment later, since Piscina gives a worker no task while it emits the event. */
  #welcome(piscina: Piscina, id: number): void {
    setImmediate(() => {
      const isAlive = piscina.threads.some(({ threadId }) => threadId === id)
      if (piscina !== this.#piscina || this.#closing || !isAlive) return
      const thread = { id, underWay: { small: 0, large: 0, rows: 0 }, channel: new Channel() }
      for (const increment of this.#increments.all()) thread.channel.sendIncrement(increment)
      this.#setReady([...this.ready, thread])
      void this.#serve(piscina, thread)
      this.onReady()
    })
  }

  /** Gives a worker the one task that it ever has: all that comes by its channel. */
  async #serve(piscina: Piscina, thread: ReadyThread): Promise<void> {
    const { id, channel } = thread
    this.#wantedId = id
    let reason = new Error('a query worker ended')
    try {
      await piscina.run(channel.workerEnd, { transferList: [channel.workerEnd.port] })
    } catch (error) {
      reason = error as Error
    }
    this.#setReady(this.ready.filter((other) => other !== thread))
    channel.fail(reason)
    if (this.#closing) return
    // Without a channel it is of no use, though it may be alive: a task may have thrown. Piscina starts another one.
    void piscina.threads.find(({ threadId }) => threadId === id)?.terminate()
  }

  #replaceGivenUp(piscina: Piscina): void {
    const { threadCount, page, log } = this.#options
    if (this.#closing || piscina !== this.#piscina) return
    page[DEATHS]++
    log.error({ threadCount: piscina.threads.length }, 'a query worker died')
    if (this.#replacement !== undefined || piscina.threads.length >= threadCount) return
    const waitMs = this.#nextWaitMs()
    log.warn({ threadCount: piscina.threads.length, waitMs }, 'replacing the query workers')
    this.#replacement = setTimeout(() => {
      this.#replacement = undefined
      // The scheduler does not drain these any more.
      for (const { channel } of this.ready) channel.requestNotify()
      this.#setReady([])
      this.#piscina = this.#create()
      // Its tasks are rejected, and the scheduler runs them again.
      this.#destroy(piscina).catch((error: Error) => {
        log.error({ reason: error.message }, 'query workers could not be ended')
      })
    }, waitMs)
  }

  /** None after a crash; longer and longer while no worker loads. */
  #nextWaitMs(): number {
    if (this.#failedCount++ === 0) return 0
    return Math.min(limits.workersReplaceMs, 10 * 2 ** this.#failedCount)
  }
}

const WORKERS = slotOf('hickory_query_workers')
const DEATHS = slotOf('hickory_query_worker_deaths_total')
