/**
 * Loads the files of a snapshot on several threads, each straight into its room. To verify one takes
 * long pieces of work, and the main thread has connections to hand out meanwhile.
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import { OperatorError, type OperatorErrorCode } from '../errors.js'
import type { ShardImage } from '../shard/layout.js'
import type { Repeats } from '../shard/repeats.js'
import type { OnRead } from './blocks.js'
import { givenUp, type LoadPiece, type LoadRunner } from './load-piece.js'

/** To a thread that loads, one piece at a time. */
export type LoadOrder = LoadPiece | { readonly kind: 'stop' }

/** From it: bytes that were read, and then what became of the piece. */
export type LoadReport =
  | { readonly kind: 'read'; readonly bytes: number }
  | { readonly kind: 'loaded'; readonly result: ShardImage | Repeats }
  | { readonly kind: 'failed'; readonly code: OperatorErrorCode; readonly message: string }

/**
 * @param workerUrl  of the compiled workers/load.ts
 * @param stopping  to give up soon
 */
export function runOnThreads(
  workerUrl: URL,
  threadCount: number,
  onRead: OnRead,
  stopping?: AbortSignal,
): LoadRunner {
  const threads = new LoadThreads(workerUrl, threadCount, onRead)
  const stop = () => void threads.close()
  stopping?.addEventListener('abort', stop)
  if (stopping?.aborted) stop()
  return {
    loadShard: (piece) => threads.run(piece) as Promise<ShardImage>,
    loadRepeats: (piece) => threads.run(piece) as Promise<Repeats>,
    async close() {
      stopping?.removeEventListener('abort', stop)
      await threads.close()
    },
  }
}

interface Job {
  readonly piece: LoadPiece
  resolve(result: ShardImage | Repeats): void
  reject(error: Error): void
}

class LoadThreads {
  readonly #onRead: OnRead
  readonly #idle: Worker[] = []
  readonly #jobs = new Map<Worker, Job>()
  readonly #exits: Promise<void>[] = []
  #waiting: Job[] = []
  #liveCount = 0
  #isClosed = false
  #failure: OperatorError | undefined
  readonly #workers: Worker[] = []

  constructor(workerUrl: URL, threadCount: number, onRead: OnRead) {
    this.#onRead = onRead
    try {
      for (let count = 0; count < threadCount; count++) this.#start(workerUrl)
    } catch (error) {
      // The system gives no more threads; those that there are must not stay.
      void this.close()
      throw error
    }
  }

  run(piece: LoadPiece): Promise<ShardImage | Repeats> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ piece, resolve, reject })
      this.#deal()
    })
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true
      // Told, not ended: Node.js aborts the process when a thread is ended while it loads its modules.
      for (const worker of this.#workers) worker.postMessage({ kind: 'stop' } satisfies LoadOrder)
      this.#deal()
    }
    await Promise.all(this.#exits)
  }

  #start(workerUrl: URL): void {
    const worker = new Worker(workerUrl)
    this.#workers.push(worker)
    this.#idle.push(worker)
    this.#liveCount++
    worker.on('message', (report: LoadReport) => this.#hear(worker, report))
    worker.once('error', ({ message }: Error) => this.#fail(worker, message))
    this.#exits.push(
      new Promise((resolve) => {
        worker.once('exit', () => {
          this.#liveCount--
          this.#fail(worker, 'a thread that loads ended early')
          resolve()
        })
      }),
    )
  }

  #hear(worker: Worker, report: LoadReport): void {
    if (report.kind === 'read') {
      this.#onRead(report.bytes)
      return
    }
    const job = this.#jobs.get(worker)
    this.#jobs.delete(worker)
    this.#idle.push(worker)
    if (report.kind === 'loaded') job?.resolve(report.result)
    else job?.reject(new OperatorError(report.code, report.message))
    this.#deal()
  }

  /** A thread that ended for a reason of its own, or one that was told to. */
  #fail(worker: Worker, reason: string): void {
    const at = this.#idle.indexOf(worker)
    if (at !== -1) this.#idle.splice(at, 1)
    if (!this.#isClosed) this.#failure ??= new OperatorError('Failed', reason)
    this.#jobs.get(worker)?.reject(this.#failure ?? givenUp())
    this.#jobs.delete(worker)
    this.#deal()
  }

  #deal(): void {
    if (this.#isClosed || this.#liveCount === 0) {
      for (const { reject } of this.#waiting) reject(this.#failure ?? givenUp())
      this.#waiting = []
    }
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop()
      if (worker === undefined) return
      const [job] = this.#waiting.splice(0, 1)
      this.#jobs.set(worker, job)
      worker.postMessage(job.piece)
    }
  }
}
