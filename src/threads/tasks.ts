/**
 * Threads that do tasks for an import or a load: each takes the next task as soon as it is done with
 * one.
 *
 * @module
 */
import { availableParallelism } from 'node:os'
import { parentPort, Worker } from 'node:worker_threads'
import { OperatorError, type OperatorErrorCode } from '../errors.js'
import { limits } from '../limits.js'

/** Does tasks, in threads or here. */
export interface TaskRunner<Task, Result> {
  /** Rejects with what the task threw, when its thread died, and when it is closed before it begins. */
  run(task: Task): Promise<Result>
  /**
   * Takes the tasks back that no thread has begun, and ends the threads after those that are under
   * way; returns when they have ended.
   */
  close(): Promise<void>
}

/** Done in a thread. What it tells on the way comes before its result. */
type Work<Task, Result, News = never> = (
  task: Task,
  tell: (news: News) => void,
) => Result | Promise<Result>

/** As many threads as there are cores to work on an import. */
export function importThreadCount(): number {
  return Math.min(availableParallelism(), limits.importThreadCount)
}

/**
 * @param entry  the compiled entry point, which calls `serveTasks`
 * @param onNews  called with what tasks tell
 */
export function startTaskThreads<Task, Result, News = never>(
  entry: URL,
  threadCount: number,
  onNews: (news: News) => void = () => {},
): TaskRunner<Task, Result> {
  return new TaskThreads(entry, threadCount, onNews)
}

/** Does tasks in this thread, one after the other, where that takes less than starting threads. */
export function runTasksHere<Task, Result>(
  work: (task: Task) => Result | Promise<Result>,
): TaskRunner<Task, Result> {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  return {
    run(task) {
      const result = last.then(() => {
        if (isClosed) throw notBegun()
        return work(task)
      })
      last = result.catch(() => undefined)
      return result
    },
    async close() {
      isClosed = true
      await last
    },
  }
}

/** The whole of a thread: does the tasks that come in until it is told to end. */
export function serveTasks<Task, Result, News = never>(work: Work<Task, Result, News>): void {
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

type Report<Result, News> = Outcome<Result> | { readonly news: News }

async function outcomeOf<Task, Result, News>(
  work: Work<Task, Result, News>,
  task: Task,
): Promise<Outcome<Result>> {
  try {
    return { result: await work(task, (news) => parentPort?.postMessage({ news })) }
  } catch (error) {
    const code = error instanceof OperatorError ? error.code : undefined
    return { fault: error instanceof Error ? error.message : String(error), code }
  }
}

interface Job<Task, Result> {
  readonly task: Task
  resolve(result: Result): void
  reject(error: Error): void
}

class TaskThreads<Task, Result, News> implements TaskRunner<Task, Result> {
  readonly #onNews: (news: News) => void
  readonly #idle: Worker[] = []
  readonly #waiting: Job<Task, Result>[] = []
  readonly #underWay = new Map<Worker, Job<Task, Result>>()
  readonly #exits: Promise<void>[] = []
  /** Why no further task is begun. */
  #end: Error | undefined
  #isClosing = false

  constructor(entry: URL, threadCount: number, onNews: (news: News) => void) {
    this.#onNews = onNews
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
      this.#waiting.push({ task, resolve, reject })
      this.#handOut()
    })
  }

  async close(): Promise<void> {
    this.#end ??= notBegun()
    this.#isClosing = true
    this.#handOut()
    await Promise.all(this.#exits)
  }

  #start(entry: URL): void {
    const worker = new Worker(entry)
    this.#idle.push(worker)
    worker.on('message', (report: Report<Result, News>) => this.#hear(worker, report))
    worker.on('error', (error: Error) => this.#bury(worker, error.message))
    this.#exits.push(
      new Promise((resolve) => {
        worker.on('exit', () => {
          this.#bury(worker, 'it ended early')
          resolve()
        })
      }),
    )
  }

  #hear(worker: Worker, report: Report<Result, News>): void {
    if ('news' in report) {
      this.#onNews(report.news)
      return
    }
    const job = this.#underWay.get(worker)
    this.#underWay.delete(worker)
    this.#idle.push(worker)
    if ('result' in report) job?.resolve(report.result)
    else job?.reject(faultOf(report))
    this.#handOut()
  }

  #handOut(): void {
    if (this.#end !== undefined) {
      for (const job of this.#waiting.splice(0)) job.reject(this.#end)
    }
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      const worker = this.#idle.at(-1) as Worker
      const job = this.#waiting.shift() as Job<Task, Result>
      try {
        worker.postMessage({ task: job.task })
      } catch (error) {
        // It cannot be sent, for want of memory for example.
        job.reject(error as Error)
        continue
      }
      this.#idle.pop()
      this.#underWay.set(worker, job)
    }
    if (!this.#isClosing) return
    // Told, not ended: Node.js aborts the process when a thread is ended while it loads its modules.
    for (const worker of this.#idle.splice(0)) worker.postMessage(END)
  }

  /** Nothing is begun after a death: callers are to end, and begin anew if at all. */
  #bury(worker: Worker, reason: string): void {
    const at = this.#idle.indexOf(worker)
    if (at !== -1) this.#idle.splice(at, 1)
    const death = new OperatorError('Failed', `a thread failed: ${reason}`)
    this.#end ??= death
    this.#underWay.get(worker)?.reject(death)
    this.#underWay.delete(worker)
    this.#handOut()
  }
}

function notBegun(): OperatorError {
  return new OperatorError('Failed', 'the task was not begun, because its caller has ended')
}

function faultOf({ fault, code }: { fault: string; code: OperatorErrorCode | undefined }): Error {
  return code === undefined ? new Error(fault) : new OperatorError(code, fault)
}
