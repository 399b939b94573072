/**
 * The threads of a query pool, always as many as asked for.
 *
 * Piscina replaces a worker that dies, but gives up for good when one dies before it is ready:
 * its tasks then wait for ever. So its number of threads is watched, and an instance that has
 * given up is replaced by a new one.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { releaseWorkerPage } from '../metrics/memory.js'
import { type Page, slotOf } from '../metrics/slots.js'
import { type Arena, releaseZones } from '../shard/arena.js'
import type { Increment } from '../shard/delta/increment.js'
import { IncrementLog } from '../shard/delta/increment-log.js'
import { Channel } from './channel.js'
import { attachedCount } from './control.js'
import type { QueryThread } from './placement.js'
import type { QueryWorkerData } from './worker-messages.js'

/** The way to a worker, as the scheduler sees it. */
export type TaskWay = Pick<
  Channel,
  'batch' | 'bring' | 'drain' | 'letWake' | 'sendBatch' | 'sendTask'
>

/** The threads, as the scheduler sees them. */
export interface QueryThreads {
  readonly ready: readonly (QueryThread & { readonly way: TaskWay })[]
  /** Called when a thread has become ready. */
  onReady: () => void
}

/** A worker that takes tasks. */
interface ReadyThread extends QueryThread {
  readonly way: Channel
}

/** A worker as Piscina tells of it. */
interface PiscinaWorker {
  readonly id: number
}

interface WorkerThreadsOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  /** Options of Node.js for the threads. */
  readonly workerArgs: readonly string[]
  readonly threadCount: number
  readonly workerData: QueryWorkerData
  /** Of the front thread. */
  readonly page: Page
  readonly log: Log
}

export class WorkerThreads implements QueryThreads {
  #ready: readonly ReadyThread[] = []
  onReady: () => void = () => {}

  readonly #options: WorkerThreadsOptions
  #piscina: Piscina
  #replacement: NodeJS.Timeout | undefined
  /** Replacements since a worker was last ready. */
  #failedCount = 0
  #attachedCount = 0
  #closing = false
  readonly #arenas: ReadonlySet<Arena | null>
  readonly #followed = new WeakSet<Worker>()
  /** Those that have not told yet that they are ready. */
  readonly #loading = new Set<Worker>()
  /** The worker that the task is for which is handed to Piscina at this moment. */
  #wantedId = 0
  /** What came since the snapshot, for workers that start later. */
  readonly #increments = new IncrementLog()
  #untakenCount = 0
  /** Workers that have been asked to take what they were told, and have not yet. */
  readonly #catchingUp = new Set<ReadyThread>()
  /** One for each thread that has not ended. */
  readonly #exits = new Set<Promise<unknown>>()

  constructor(options: WorkerThreadsOptions) {
    this.#options = options
    this.#arenas = new Set(options.workerData.shards.map((shard) => shard.arena))
    this.#piscina = this.#create()
  }

  get ready(): readonly ReadyThread[] {
    return this.#ready
  }

  #setReady(ready: readonly ReadyThread[]): void {
    this.#options.page[WORKERS] += ready.length - this.#ready.length
    this.#ready = ready
  }

  /** Tells all workers, also those that are not there yet, what came since the last increment. */
  tell(increment: Increment): void {
    this.#increments.add(increment)
    for (const { way } of this.#ready) way.tell(increment)
    // Who has no task takes nothing, and what waits for it would grow.
    if (++this.#untakenCount < limits.incrementsUntakenCount) return
    this.#untakenCount = 0
    for (const thread of this.#ready) this.#letCatchUp(thread)
  }

  #letCatchUp(thread: ReadyThread): void {
    if (this.#catchingUp.has(thread)) return
    this.#catchingUp.add(thread)
    const done = () => this.#catchingUp.delete(thread)
    thread.way.sendTask({ kind: 'catchUp' }, { ended: done, failed: done })
    thread.way.letWake()
  }

  /** Rejects when a worker fails outside of a task; never resolves. */
  failure(): Promise<never> {
    return new Promise((_, reject) => this.#piscina.once('error', reject))
  }

  /** Ends one thread as a crash would, unless one is starting. */
  async crashOne(): Promise<void> {
    const { threads } = this.#piscina
    if (this.#isLoading(this.#piscina)) return
    await threads[Math.floor(Math.random() * threads.length)]?.terminate()
  }

  /** Waits for running tasks, then ends the threads; resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#replacement)
    this.#followWorkers(this.#piscina)
    await this.#untilLoaded(this.#piscina)
    for (const { way } of this.ready) way.close()
    await this.#piscina.close()
    await Promise.all(this.#exits)
  }

  /** Node.js aborts the whole process when a thread is ended while it loads its modules. */
  async #untilLoaded(piscina: Piscina): Promise<void> {
    const giveUpMs = performance.now() + limits.workerLoadMs
    while (this.#isLoading(piscina) && performance.now() < giveUpMs) await sleep(5)
  }

  #isLoading(piscina: Piscina): boolean {
    return piscina.threads.some((worker) => this.#loading.has(worker))
  }

  /** Ends the threads as soon as they may be ended. */
  async destroy(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#replacement)
    this.#followWorkers(this.#piscina)
    await this.#end(this.#piscina)
    await Promise.all(this.#exits)
  }

  async #end(piscina: Piscina): Promise<void> {
    await this.#untilLoaded(piscina)
    await piscina.destroy()
  }

  #create(): Piscina {
    const { workerUrl, workerArgs, threadCount, workerData, log } = this.#options
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
      workerData,
    })
    // Without a listener, a worker that dies while it has no task would end this thread as well.
    piscina.on('error', ({ message }: Error) => {
      log.error({ reason: message }, 'a query worker failed')
    })
    piscina.on('workerCreate', ({ id }: PiscinaWorker) => this.#welcome(piscina, id))
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
      this.#loading.add(worker)
      worker.once('message', () => this.#loading.delete(worker))
      const { threadId } = worker
      const exit = new Promise((resolve) => worker.once('exit', resolve)).then(() => {
        this.#loading.delete(worker)
        releaseWorkerPage(this.#options.workerData.metrics, threadId)
        for (const arena of this.#arenas) if (arena !== null) releaseZones(arena, threadId)
        this.#exits.delete(exit)
      })
      this.#exits.add(exit)
    }
  }

  /** A moment later, since Piscina gives a worker no task while it tells of it. */
  #welcome(piscina: Piscina, id: number): void {
    setImmediate(() => {
      const isAlive = piscina.threads.some(({ threadId }) => threadId === id)
      if (piscina !== this.#piscina || this.#closing || !isAlive) return
      const thread = { id, underWay: { small: 0, large: 0, rows: 0 }, way: new Channel() }
      for (const increment of this.#increments.all()) thread.way.tell(increment)
      this.#setReady([...this.ready, thread])
      void this.#serve(piscina, thread)
      this.onReady()
    })
  }

  /** Gives a worker the one task that it ever has: all that comes by its channel. */
  async #serve(piscina: Piscina, thread: ReadyThread): Promise<void> {
    const { way } = thread
    const { workerEnd } = way
    this.#wantedId = thread.id
    let reason = new Error('a query worker ended')
    try {
      await piscina.run(workerEnd, { transferList: [workerEnd.port] })
    } catch (error) {
      reason = error as Error
    }
    this.#setReady(this.ready.filter((other) => other !== thread))
    way.fail(reason)
    this.#replace(piscina, thread)
  }

  /**
   * Ends a thread that has no channel any more, so that Piscina starts another one. It may be alive: a
   * task may have failed in the middle of whatever it was at.
   */
  #replace(piscina: Piscina, { id }: ReadyThread): void {
    if (this.#closing) return
    void piscina.threads.find(({ threadId }) => threadId === id)?.terminate()
  }

  #watch(piscina: Piscina): void {
    const { threadCount, page, log } = this.#options
    if (this.#closing || piscina !== this.#piscina) return
    page[DEATHS]++
    log.error({ threadCount: piscina.threads.length }, 'a query worker died')
    if (this.#replacement !== undefined || piscina.threads.length >= threadCount) return
    const waitMs = this.#nextWaitMs()
    log.warn({ threadCount: piscina.threads.length, waitMs }, 'replacing the query workers')
    this.#replacement = setTimeout(() => {
      this.#replacement = undefined
      // The scheduler looks at these no more.
      for (const { way } of this.ready) way.letWake()
      this.#setReady([])
      this.#piscina = this.#create()
      // Its tasks are rejected, and run again by whoever waits for them.
      this.#end(piscina).catch((error: Error) => {
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

const WORKERS = slotOf('hickory_query_workers')
const DEATHS = slotOf('hickory_query_worker_deaths_total')
