/**
 * Starts and stops the thread that writes an access log, for the main thread.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Log } from '../log.js'
import { openPort, startThread } from '../threads/thread.js'
import { createLogCounters, type LogCounters } from './queue.js'

export interface AccessLogThread {
  readonly counters: LogCounters
  /** For another thread, which makes a `LineQueue` of it. */
  openPort(): MessagePort
  /** Opens the file of this name anew. */
  reopen(): void
  /** Writes what can be written soon. */
  stop(): Promise<void>
}

export interface LogThreadData {
  /** A path, or `-` for standard output. */
  readonly target: string
  readonly counters: Int32Array
}

/** What the main thread calls. */
export interface AccessLogCalls {
  /** Takes lines of another thread, which has the other end. */
  serve(port: MessagePort): void
  /** Opens the file of this name anew. */
  reopen(): void
  /** Writes what can be written soon, and ends. */
  stop(): void
}

/** What the thread calls, for the log of the service. */
export interface AccessLogNews {
  failed(reason: string): void
  recovered(): void
}

/**
 * Starts it. None of its faults ends the service.
 *
 * @param target  a path, or `-` for standard output
 */
export function startAccessLog(target: string, log: Log): AccessLogThread {
  const counters = createLogCounters()
  const data: LogThreadData = { target, counters }
  const own: AccessLogNews = {
    failed: (reason) =>
      log.warn({ reason }, 'the access log cannot be written: lines wait, then are dropped'),
    recovered: () => log.info('the access log can be written again'),
  }
  const title = 'the thread of the access log'
  const { tell, stop } = startThread<AccessLogCalls>('access-log', { title, data, own, log })
  return { counters, openPort: () => openPort(tell.serve), reopen: tell.reopen, stop }
}
