/**
 * The threads of a query pool, always as many as asked for.
 *
 * Piscina replaces a worker that dies, but gives up for good when one dies before it is ready:
 * its tasks then wait for ever. So its number of threads is watched, and an instance that has
 * given up is replaced by a new one.
 *
 * @module
 */
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type Arena, releaseZones } from '../shard/arena.js'
import { attachedCount } from './control.js'
import type { QueryWorkerData } from './query-pool.js'

export interface WorkerThreadsOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  readonly threadCount: number
  readonly workerData: QueryWorkerData
  readonly log: Log
}

export class WorkerThreads {
  readonly #options: WorkerThreadsOptions
  #piscina: Piscina
  #replacement: NodeJS.Timeout | undefined
  /** Replacements since a worker was last ready. */
  #failedCount = 0
  #attachedCount = 0
  #closing = false
  readonly #arenas: ReadonlySet<Arena | null>
  readonly #followed = new WeakSet<Worker>()
  #followedCount = 0

  constructor(options: WorkerThreadsOptions) {
    this.#options = options
    this.#arenas = new Set(options.workerData.shards.map((shard) => shard.arena))
    this.#piscina = this.#create()
  }

  /** Runs a task; rejects when its worker dies. */
  run(task: unknown): Promise<unknown> {
    return this.#piscina.run(task)
  }

  /** Rejects when a worker fails outside of a task; never resolves. */
  failure(): Promise<never> {
    return new Promise((_, reject) => this.#piscina.once('error', reject))
  }

  /**
   * Ends one thread as a crash would, unless one is starting: Node.js aborts the whole process when a
   * thread is ended while it loads its modules.
   */
  async crashOne(): Promise<void> {
    if (attachedCount(this.#options.workerData.control) < this.#followedCount) return
    const { threads } = this.#piscina
    await threads[Math.floor(Math.random() * threads.length)]?.terminate()
  }

  /** Waits for running tasks, then ends the threads. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#replacement)
    await this.#piscina.close()
  }

  /** Ends the threads at once. */
  async destroy(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#replacement)
    await this.#piscina.destroy()
  }

  #create(): Piscina {
    const { workerUrl, threadCount, workerData, log } = this.#options
    const piscina = new Piscina({
      filename: workerUrl,
      name: 'run',
      minThreads: threadCount,
      maxThreads: threadCount,
      idleTimeout: Number.POSITIVE_INFINITY,
      // Several tasks under way at each worker hide the trip between threads.
      concurrentTasksPerWorker: limits.tasksPerWorkerCount,
      maxQueue: limits.tasksQueuedCount,
      closeTimeout: limits.poolCloseMs,
      recordTiming: false,
      // A loader or profiler that watches this process would slow down every restart of a worker.
      execArgv: [],
      workerData,
    })
    // Without a listener, a worker that dies while it has no task would end this thread as well.
    piscina.on('error', ({ message }: Error) => {
      log.error({ reason: message }, 'a query worker failed')
    })
    // Told before Piscina has decided whether to start another one, hence a moment later.
    piscina.on('workerDestroy', () => {
      setImmediate(() => {
        this.#followWorkers(piscina)
        this.#watch(piscina)
      })
    })
    this.#followWorkers(piscina)
    return piscina
  }

  /**
   * Gives back the zones of each worker when its thread has ended. Told that a worker is gone,
   * Piscina has only begun to end it: its thread may still write for a while.
   */
  #followWorkers(piscina: Piscina): void {
    for (const worker of piscina.threads) {
      if (this.#followed.has(worker)) continue
      this.#followed.add(worker)
      this.#followedCount++
      const { threadId } = worker
      worker.once('exit', () => {
        for (const arena of this.#arenas) if (arena !== null) releaseZones(arena, threadId)
      })
    }
  }

  #watch(piscina: Piscina): void {
    const { threadCount, log } = this.#options
    if (this.#closing || piscina !== this.#piscina) return
    log.error({ threadCount: piscina.threads.length }, 'a query worker died')
    if (this.#replacement !== undefined || piscina.threads.length >= threadCount) return
    const waitMs = this.#nextWaitMs()
    log.warn({ threadCount: piscina.threads.length, waitMs }, 'replacing the query workers')
    this.#replacement = setTimeout(() => {
      this.#replacement = undefined
      this.#piscina = this.#create()
      // Its tasks are rejected, and run again by whoever waits for them.
      piscina.destroy().catch((error: Error) => {
        log.error({ reason: error.message }, 'query workers could not be ended')
      })
    }, waitMs)
  }

  /** None after a crash; longer and longer while no worker gets as far as being ready. */
  #nextWaitMs(): number {
    const attached = attachedCount(this.#options.workerData.control)
    if (attached > this.#attachedCount) this.#failedCount = 0
    this.#attachedCount = attached
    if (this.#failedCount++ === 0) return 0
    return Math.min(limits.workersReplaceMs, 10 * 2 ** this.#failedCount)
  }
}
