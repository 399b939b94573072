/**
 * The code of a query worker: shards attached once, then one task after the other until its channel is
 * closed (pool/channel.ts). To Piscina, all of that is one task.
 *
 * A task must leave no background work behind: between tasks the thread sleeps in `Atomics.wait`,
 * and timers do not run.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { getPriority, setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { claimWorkerPage, slotOf as metricSlot } from '../metrics/memory.js'
import { heapNoter } from '../metrics/vitals.js'
import { BudgetSpent, Unwanted } from '../shard/budget.js'
import { LiveShards } from '../shard/delta/live-shards.js'
import { cellsOf } from '../shard/grid/cells.js'
import { attachShard, type Shard } from '../shard/layout.js'
import { offersOf } from '../shard/nearest.js'
import { offerWords } from '../shard/offer-words.js'
import { encodeRows, rowBytes } from '../shard/rows/encode-rows.js'
import { countInside, coveredBy, firstsAmong, selectInside } from '../shard/select.js'
import {
  BY_MESSAGE,
  type CancelFlag,
  type CatchUpResult,
  type ChannelEnd,
  CLOSE,
  type CountResult,
  countDone,
  isCancelled,
  layOutChannel,
  next,
  type QueryWorkerData,
  type RowsResult,
  type Slot,
  slotOf,
  WAKE,
  waitForTask,
} from './channel.js'
import {
  type Findings,
  type FlatQueries,
  findingsLength,
  type TimedQuery,
  unflatten,
  writeFindings,
} from './codec.js'
import { sharedClockMs } from './tasks.js'
import { WorkerShards } from './worker-shards.js'

/**
 * Attaches the shards of the snapshot.
 *
 * @returns a function that does the tasks of a channel until it is closed
 */
export function attachWorker(): (end: ChannelEnd) => void {
  const data = Piscina.workerData as QueryWorkerData
  const { edgeTestCount } = data
  const page = claimWorkerPage(data.metrics)
  const noteHeap = heapNoter(page)
  lowerPriority()
  const shards = data.shards.map(attachShard)
  const findAll = (
    flat: FlatQueries,
    live: WorkerShards,
    cancelFlag: CancelFlag | null = null,
    given: Given = null,
  ) => {
    const nowMs = sharedClockMs()
    return unflatten(flat).map((query) =>
      // The front has answered that there is no answer in time.
      nowMs > query.expiresMs
        ? LATE
        : find(live.of(query), query, { edgeTestCount, cancelFlag, given }),
    )
  }
  return ({ buffer, port }) => {
    const memory = layOutChannel(buffer)
    const live = new WorkerShards(
      new LiveShards(shards, data.sourceIds),
      () => receiveMessageOnPort(port)?.message,
    )
    let doneCount = 0
    for (;;) {
      waitForTask(memory, doneCount)
      const beganMs = performance.now()
      const slot = memory.slots[slotOf(doneCount)]
      const [head] = slot.head
      if (head === CLOSE) break
      if (head === BY_MESSAGE) doMessage(slot, live, port)
      else leaveFindings(findAll(queriesIn(slot), live), slot, port)
      const endedMs = performance.now()
      slot.head[1] = 1_000 * (endedMs - beganMs)
      page[TASKS]++
      page[BUSY_SECONDS] += (endedMs - beganMs) / 1_000
      noteHeap(endedMs)
      doneCount = next(doneCount)
      if (countDone(memory, doneCount)) port.postMessage(WAKE)
    }
    port.close()
  }

  function doMessage(slot: Slot, live: WorkerShards, port: MessagePort): void {
    const task = live.nextTask()
    slot.findings[0] = BY_MESSAGE
    if (task.kind === 'queries') {
      postFindings(findAll(task, live, task.cancelFlag, task.given), port)
      return
    }
    if (task.kind === 'catchUp') {
      port.postMessage({ isCaughtUp: true } satisfies CatchUpResult)
      return
    }
    const { shardIndex, runs } = task
    const shard = live.columnsAt(shardIndex)
    if (task.kind === 'cells') {
      const cells = cellsOf(task.grid).count(shard, runs)
      port.postMessage({ counted: cells } satisfies CountResult, [cells.buffer as ArrayBuffer])
      return
    }
    const result: RowsResult | CountResult =
      task.kind === 'rows'
        ? encodeRows(shard, runs, task.format, task.into)
        : { counted: rowBytes(shard, runs, task.format) }
    port.postMessage(result)
  }
}

const TASKS = metricSlot('hickory_query_worker_tasks_total')
const BUSY_SECONDS = metricSlot('hickory_query_worker_busy_seconds_total')

/**
 * Lets front threads go before query workers where both want a core. A front has little to do for each
 * request, but all requests wait for it, and a refusal must not wait for a search.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(CALLING_THREAD, Math.min(LOWEST, getPriority(CALLING_THREAD) + NICENESS))
  } catch {
    // Some systems do not permit it, and the service works without it.
  }
}

/** See setpriority(2): on Linux, 0 is the thread that calls. */
const CALLING_THREAD = 0
const LOWEST = 19
// More of it makes small requests wait for busy workers: five steps doubled the p99 of counts, and cost
// an eighth of the goodput under overload.
const NICENESS = 1

function queriesIn({ head, words, floats }: Slot): FlatQueries {
  return { queryCount: head[0], words, floats }
}

function leaveFindings(findings: readonly Findings[], slot: Slot, port: MessagePort): void {
  if (findingsLength(findings) <= slot.findings.length) writeFindings(findings, slot.findings)
  else {
    slot.findings[0] = BY_MESSAGE
    postFindings(findings, port)
  }
}

function postFindings(findings: readonly Findings[], port: MessagePort): void {
  const flat = new Uint32Array(findingsLength(findings))
  writeFindings(findings, flat)
  port.postMessage(flat, [flat.buffer])
}

const NO_RUNS = new Uint32Array(0)
const LATE: Findings = { fault: 'Unavailable' }

type Given = readonly Uint32Array[] | null

interface FindOptions {
  readonly edgeTestCount: number
  readonly cancelFlag: CancelFlag | null
  readonly given: Given
}

function find(
  touched: readonly Shard[],
  { kind, shapes, countMode, isDistinct }: TimedQuery,
  { edgeTestCount, cancelFlag, given }: FindOptions,
): Findings {
  const isUnwanted = cancelFlag && (() => isCancelled(cancelFlag))
  const budget = { edgeTestCount, isUnwanted }
  try {
    if (kind === 'cover') {
      return { runs: touched.map((each) => coveredBy(each, shapes, { edgeTestCount, isUnwanted })) }
    }
    if (kind === 'offer') {
      const taken = given ?? touched.map(() => NO_RUNS)
      return { runs: offerWords(touched.length, offersOf(touched, shapes, taken, budget)) }
    }
    if (kind === 'firsts') {
      assert(given !== null, 'the runs that were selected are given')
      return { runs: firstsAmong(touched, given, budget, countMode, isDistinct) }
    }
    return kind === 'count'
      ? { counts: countInside(touched, shapes, budget, countMode, isDistinct) }
      : { runs: selectInside(touched, shapes, budget, countMode, isDistinct) }
  } catch (error) {
    if (error instanceof BudgetSpent) return { fault: 'TooComplex' }
    if (error instanceof Unwanted) return { fault: 'Unavailable' }
    throw error
  }
}
