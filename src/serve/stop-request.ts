/**
 * The request to stop, by a signal.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { errorTables } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'

/** Thrown out of long work when the service is told to stop. */
export class StoppedWhileLoading extends Error {}

export interface StopRequest {
  readonly requested: boolean
  readonly signal: AbortSignal
  /** Resolves when it comes. */
  readonly promise: Promise<void>
}

/**
 * SIGTERM or SIGINT, as soon as it comes; a second one ends the process at once, and so does this one when it was not
 * heeded in time.
 */
export function stopRequest(log: Log): StopRequest {
  const stopping = new AbortController()
  const { signal } = stopping
  const request = { requested: false, signal, promise: Promise.resolve() }
  request.promise = new Promise((resolve) => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const stop = () => {
      // The next one has its default effect.
      for (const signal of signals) process.off(signal, stop)
      setTimeout(endAtOnce, limits.stopMs, log).unref()
      request.requested = true
      stopping.abort()
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
  return request
}

/** A thread that a disk holds keeps a process from its end in every other way. */
function endAtOnce(log: Log): void {
  log.fatal(LATE)
  process.kill(process.pid, 'SIGKILL')
  // The first process of a container takes no signal of its own.
  process.abort()
}

const LATE =
  'the service did not end in time: something holds one of its threads, such as a disk that hangs'

/**
 * Logs such an error and ends the process for its supervisor, also a rejection that is not
 * handled.
 *
 * @param release  closes what must be closed first; given up after `limits.breakOffMs`
 */
export function endOnUncaught(log: Log, release: () => Promise<void>): void {
  let isEnding = false
  process.on('uncaughtException', async (error) => {
    log.fatal(describeFault(error), 'the main thread failed')
    if (isEnding) return
    isEnding = true
    await Promise.race([release().catch(() => {}), sleep(limits.breakOffMs)])
    process.exit(errorTables.operatorErrors.Failed)
  })
}
