/**
 * Starts all front threads together, and ends them together, for the main thread.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import type { AppDescriptor } from '../http/engine/engine.js'
import { limits } from '../limits.js'
import { startThread, type Thread } from '../threads/thread.js'
import type { DrainTimes, FrontCalls, FrontData, FrontNews } from './messages.js'

export interface Front extends Pick<Thread<FrontCalls>, 'ask' | 'tell' | 'failure' | 'stop'> {
  /** For the acceptor, to hand it connections; undefined where that is not possible. */
  readonly descriptor: AppDescriptor | undefined
}

/** @throws OperatorError  when the thread cannot start */
export async function startFront(data: FrontData): Promise<Front> {
  const { changes, batches, audit, accessLog, cluster } = data
  const optional = [audit?.port, accessLog?.port, cluster?.audiences]
  const ports = [changes, batches.port, ...optional.flatMap((port) => port ?? [])]
  let isReady: FrontNews['ready'] = () => {}
  const ready = new Promise<AppDescriptor | undefined>((resolve) => {
    isReady = resolve
  })
  const own = { ready: isReady }
  const thread = startThread<FrontCalls>('front', { title: 'a front thread', data, ports, own })
  const { ask, tell, failure, stop } = thread
  return { ask, tell, failure, stop, descriptor: await Promise.race([ready, failure]) }
}

/** How many query workers a front has: dealt out one by one, so that the first get what is left over. */
export function workersOfFront(threadCount: number, frontCount: number, front: number): number {
  return Math.ceil((threadCount - front) / frontCount)
}

/**
 * Has the front threads answer what is open, and end.
 *
 * @throws OperatorError  when they do not end in time
 */
export async function drainFronts(fronts: readonly Front[]): Promise<void> {
  const times = { quietMs: limits.drainQuietMs, deadlineMs: limits.drainMs }
  if (await end(fronts, times, limits.stopMs)) return
  throw new OperatorError('Failed', `front threads did not end in ${limits.stopMs} ms`)
}

/** Closes all connections at once: a thread that ends with one open aborts the process. */
export async function breakOffFronts(fronts: readonly Front[]): Promise<void> {
  await end(fronts, { quietMs: 0, deadlineMs: 0 }, limits.breakOffMs)
}

/** @returns whether all have ended in time */
async function end(fronts: readonly Front[], times: DrainTimes, waitMs: number): Promise<boolean> {
  const ended = Promise.all(fronts.map(({ stop }) => stop(times))).then(() => true)
  return await Promise.race([ended, sleep(waitMs, false, { ref: false })])
}
