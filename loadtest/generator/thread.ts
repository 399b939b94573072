/**
 * Work of a load run in a thread of its own, so that neither the garbage of the main thread, which
 * holds all recipients, nor other such work makes it pause.
 *
 * @module
 */
import { parentPort, Worker, workerData } from 'node:worker_threads'

/**
 * Runs a module as a thread until it gives its result.
 *
 * @throws the reason of the signal when that is aborted first
 */
export async function inThread<Task, Result>(
  module: URL,
  task: Task,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted()
  const worker = new Worker(module, { workerData: task })
  const abort = () => void worker.terminate()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await new Promise<Result>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', (code) => {
        reject(signal.reason ?? new Error(`a thread ended with ${code} and without a result`))
      })
    })
  } finally {
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}

/** What a module that is run so does with its task. */
export async function answerTask<Task, Result>(work: (task: Task) => Promise<Result>) {
  parentPort?.postMessage(await work(workerData as Task))
}
