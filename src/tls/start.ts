/**
 * Starts the TLS thread and gives it orders, for the main thread.
 *
 * @module
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { TlsCredentials } from './credentials.js'
import type { TlsOrder, TlsReport, TlsThreadData } from './messages.js'

export interface TlsThread {
  readonly port: number
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  /** Hands new connections to these sockets, in turn. */
  forward(socketPaths: readonly string[]): void
  /** Shows this certificate to new connections. */
  show(credentials: TlsCredentials): void
  /** Takes no more connections; resolves when those that came first have been handed on. */
  stopListening(): Promise<void>
  /** Ends the thread, once clients have taken what the fronts left for them. */
  end(waitMs: number): Promise<void>
}

/** @returns undefined when the address cannot be listened on */
export async function startTlsThread(workerData: TlsThreadData): Promise<TlsThread | undefined> {
  const worker = new Worker(new URL('../../workers/tls.js', import.meta.url), { workerData })
  const ended = once(worker, 'exit')
  let isEnding = false
  let fail: (reason: string) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = (reason) => reject(new OperatorError('Failed', `the TLS thread failed: ${reason}`))
  })
  failure.catch(() => {})
  let stopped = () => {}
  const hasStopped = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const order = (message: TlsOrder) => worker.postMessage(message)
  const port = await new Promise<number | undefined>((resolve, reject) => {
    failure.catch(reject)
    worker.once('error', (error) => fail(error.message))
    worker.once('exit', (code) => {
      if (!isEnding) fail(`it ended with code ${code}`)
    })
    worker.on('message', (report: TlsReport) => {
      if (report.kind === 'listening') resolve(report.port)
      else if (report.kind === 'stopped') stopped()
      else if (report.kind === 'failed') fail(report.reason)
      else {
        isEnding = true
        resolve(undefined)
      }
    })
  })
  if (port === undefined) return undefined
  return {
    port,
    failure,
    forward: (socketPaths) => order({ kind: 'forward', socketPaths }),
    show: (credentials) => order({ kind: 'credentials', credentials }),
    async stopListening() {
      order({ kind: 'stopListening' })
      await Promise.race([hasStopped, ended])
    },
    async end(waitMs) {
      isEnding = true
      order({ kind: 'end', deadlineMs: waitMs })
      await Promise.race([ended, sleep(waitMs + limits.breakOffMs, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}
