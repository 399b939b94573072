/**
 * Starts all front threads together, and ends them together, for the main thread.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { AppDescriptor, ListenAddress } from '../http/engine/engine.js'
import { limits } from '../limits.js'
import type { DrainTimes, FrontData, FrontOrder, FrontReport } from './messages.js'

export interface Front {
  readonly worker: Worker
  /** For the acceptor, to hand it connections; undefined where that is not possible. */
  readonly descriptor: AppDescriptor | undefined
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  readonly ended: Promise<void>
}

/** @throws OperatorError  when the thread cannot start */
export async function startFront(workerData: FrontData): Promise<Front> {
  const { changes, batches, audit, accessLog, cluster } = workerData
  const worker = new Worker(new URL('../../workers/front.js', import.meta.url), {
    workerData,
    transferList: [
      changes,
      batches.port,
      ...[audit?.port, accessLog?.port, cluster?.audiences].filter((port) => port !== undefined),
    ],
  })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let fail: (error: Error) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = (error) => reject(new OperatorError('Failed', `a front thread failed: ${error.message}`))
  })
  failure.catch(() => {})
  const descriptor = await new Promise<AppDescriptor | undefined>((resolve, reject) => {
    failure.catch(reject)
    worker.once('error', fail)
    worker.once('exit', (code) => fail(new Error(`it ended with code ${code}`)))
    worker.on('message', (report: FrontReport) => {
      if (report.kind === 'ready') resolve(report.descriptor)
      if (report.kind === 'failed') fail(new Error(report.reason))
    })
  })
  return { worker, descriptor, failure, ended }
}

/**
 * Has a front take connections by itself.
 *
 * @throws OperatorError  when it cannot
 */
export async function listenByFront(
  { worker, failure }: Front,
  address: ListenAddress,
): Promise<void> {
  const order: FrontOrder = { kind: 'listen', address }
  const listening = new Promise<void>((resolve, reject) => {
    worker.on('message', function look(report: FrontReport) {
      if (report.kind !== 'listening') return
      worker.off('message', look)
      if (report.fault === undefined) resolve()
      else reject(new OperatorError('AddressInUse', report.fault))
    })
  })
  worker.postMessage(order)
  await Promise.race([listening, failure])
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
  const drain: FrontOrder = { kind: 'drain', ...times }
  for (const { worker } of fronts) worker.postMessage(drain)
  const ended = Promise.all(fronts.map((front) => front.ended)).then(() => true)
  return await Promise.race([ended, sleep(waitMs, false, { ref: false })])
}
