/**
 * Threads that do tasks for an import: each takes the next task as soon as it is done with one.
 *
 * @module
 */
import { availableParallelism } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'
import { OperatorError, type OperatorErrorCode } from './errors.js'
import { limits } from './limits.js'

/** Does tasks, in threads or here. */
export interface TaskRunner<Task, Result> {
  /** Rejects with what the task threw, or when its thread died. */
  run(task: Task): Promise<Result>
  /** Takes the tasks back that no thread has begun, and returns when none is under way. */
  settle(): Promise<void>
  /** Ends the threads after the tasks that are under way; returns when they have ended. */
  close(): Promise<void>
}

/** As many threads as there are cores to work on an import. */
export function importThreadCount(): number {
  return Math.min(availableParallelism(), limits.importThreadCount)
}

/** @param entry  the compiled entry point, which calls `serveTasks` */
export function startTaskThreads<Task, Result>(
  entry: URL,
  threadCount: number,
): TaskRunner<Task, Result> {
  return new TaskThreads(entry, threadCount)
}

/** Does tasks in this thread, one after the other, where that takes less than starting threads. */
export function runTasksHere<Task, Result>(
  work: (task: Task) => Result | Promise<Result>,
): TaskRunner<Task, Result> {
  let last: Promise<unknown> = Promise.resolve()
  const settle = async () => {
    await last
  }
  return {
    run(task) {
      const result = last.then(() => work(task))
      last = result.catch(() => undefined)
      return result
    },
    settle,
    close: settle,
  }
}

/** The whole of a thread: does the tasks that come in until it is told to end. */
export function serveTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  parentPort?.on('message', async (order: Order<Task>) => {
    if (order === END) parentPort?.close()
    else parentPort?.postMessage(await outcomeOf(work, order.task))
  })
}

const END = 'end'
type Order<Task> = { readonly task: Task } | typeof END

/** Only plain data crosses threads: errors would lose their class and code. */
type Outcome<Result> =
  | { readonly result: Result }
  | { readonly fault: string; readonly code: OperatorErrorCode | undefined }

async function outcomeOf<Task, Result>(
  work: (task: Task) => Result | Promise<Result>,
  task: Task,
): Promise<Outcome<Result>> {
  try {
    return { result: await work(task) }
  } catch (error) {
    const code = error instanceof OperatorError ? error.code : undefined
    return { fault: (error as Error).message, code }
  }
}

interface Job<Task, Result> {
  readonly task: Task
  resolve(result: Result): void
  reject(error: Error): void
}

class TaskThreads<Task, Result> implements TaskRunner<Task, Result> {
  readonly #workers = new Set<Worker>()
  readonly #idle: Worker[] = []
  readonly #waiting: Job<Task, Result>[] = []
  readonly #underWay = new Map<Worker, Job<Task, Result>>()
  #onSettled: () => void = () => {}
  #onEnded: () => void = () => {}
  #death: Error | undefined

  constructor(entry: URL, threadCount: number) {
    try {
      for (let count = 0; count < threadCount; count++) this.#start(entry)
    } catch (error) {
      // The system gives no more threads; those that there are must not keep the process.
      void this.close()
      throw error
    }
  }

  run(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#death !== undefined) {
        reject(this.#death)
        return
      }
      this.#waiting.push({ task, resolve, reject })
      this.#handOut()
    })
  }

  async settle(): Promise<void> {
    const error = new Error('it was not begun, since another task failed')
    for (const job of this.#waiting.splice(0)) job.reject(error)
    if (this.#underWay.size === 0) return
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve
    })
  }

  async close(): Promise<void> {
    await this.settle()
    // Told, not ended: Node.js aborts the process when a thread is ended while it loads its modules.
    for (const worker of this.#workers) worker.postMessage(END)
    if (this.#workers.size === 0) return
    await new Promise<void>((resolve) => {
      this.#onEnded = resolve
    })
  }

  #start(entry: URL): void {
    const worker = new Worker(entry)
    this.#workers.add(worker)
    this.#idle.push(worker)
    worker.on('message', (outcome: Outcome<Result>) => {
      const job = this.#underWay.get(worker)
      this.#underWay.delete(worker)
      this.#idle.push(worker)
      if ('result' in outcome) job?.resolve(outcome.result)
      else job?.reject(faultOf(outcome))
      this.#handOut()
    })
    worker.on('error', (error: Error) => this.#bury(worker, error.message))
    worker.on('exit', () => {
      this.#bury(worker, 'it ended early')
      this.#workers.delete(worker)
      if (this.#workers.size === 0) this.#onEnded()
    })
  }

  #handOut(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const worker = this.#idle.pop() as Worker
      const job = this.#waiting.shift() as Job<Task, Result>
      this.#underWay.set(worker, job)
      worker.postMessage({ task: job.task })
    }
    if (this.#underWay.size === 0) this.#onSettled()
  }

  /** Nothing is begun after a death: whoever waits is to end, and begins anew if at all. */
  #bury(worker: Worker, reason: string): void {
    const at = this.#idle.indexOf(worker)
    if (at !== -1) this.#idle.splice(at, 1)
    this.#death ??= new Error(`a thread of the import failed: ${reason}`)
    this.#underWay.get(worker)?.reject(this.#death)
    this.#underWay.delete(worker)
    for (const job of this.#waiting.splice(0)) job.reject(this.#death)
    this.#handOut()
  }
}

function faultOf({ fault, code }: { fault: string; code: OperatorErrorCode | undefined }): Error {
  return code === undefined ? new Error(fault) : new OperatorError(code, fault)
}
