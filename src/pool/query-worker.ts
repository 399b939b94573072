/**
 * The code inside a query worker: shards attached once, then one task after the other, for as long
 * as its channel is open (pool/channel.ts). To Piscina, all of that is one task.
 *
 * A task must leave no background work behind: between tasks the thread sleeps in `Atomics.wait`,
 * and timers do not run.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { claimWorkerPage } from '../metrics/memory.js'
import { slotOf as metricSlot } from '../metrics/slots.js'
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
  CLOSE,
  countDone,
  layOutChannel,
  next,
  type Slot,
  slotOf,
  waitForTask,
} from './channel-memory.js'
import { countAttached, type Flag, isRaised } from './control.js'
import { type Findings, findingsLength, writeFindings } from './flat-findings.js'
import { type FlatQueries, type TimedQuery, unflatten } from './flat-queries.js'
import { sharedClockMs } from './messages.js'
import { giveWay } from './priority.js'
import {
  type CaughtUp,
  type ChannelEnd,
  type Counted,
  type QueryWorkerData,
  type RowsWritten,
  WAKE,
} from './worker-messages.js'
import { WorkerShards } from './worker-shards.js'

/**
 * Attaches the shards this worker was born with.
 *
 * @returns what takes tasks from a channel until the channel is closed
 */
export function attachWorker(): (end: ChannelEnd) => void {
  const {
    shards: images,
    sourceIds,
    control,
    edgeTestCount,
    metrics,
  } = Piscina.workerData as QueryWorkerData
  const page = claimWorkerPage(metrics)
  const noteHeap = heapNoter(page)
  giveWay()
  const shards = images.map(attachShard)
  countAttached(control)
  const findAll = (
    flat: FlatQueries,
    live: WorkerShards,
    unwanted: Flag | null = null,
    given: Given = null,
  ) => {
    const nowMs = sharedClockMs()
    return unflatten(flat).map((query) =>
      // The front has been told that there is no answer in time.
      nowMs > query.expiresMs
        ? LATE
        : find(live.of(query), query, { edgeTestCount, unwanted, given }),
    )
  }
  return ({ buffer, port }) => {
    const memory = layOutChannel(buffer)
    const live = new WorkerShards(
      new LiveShards(shards, sourceIds),
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
      post(findAll(task, live, task.unwanted, task.given), port)
      return
    }
    if (task.kind === 'catchUp') {
      port.postMessage({ isCaughtUp: true } satisfies CaughtUp)
      return
    }
    const { shardIndex, runs } = task
    const shard = live.columnsAt(shardIndex)
    if (task.kind === 'cells') {
      const cells = cellsOf(task.grid).count(shard, runs)
      port.postMessage({ counted: cells } satisfies Counted, [cells.buffer as ArrayBuffer])
      return
    }
    const result: RowsWritten | Counted =
      task.kind === 'rows'
        ? encodeRows(shard, runs, task.format, task.into)
        : { counted: rowBytes(shard, runs, task.format) }
    port.postMessage(result)
  }
}

const TASKS = metricSlot('hickory_query_worker_tasks_total')
const BUSY_SECONDS = metricSlot('hickory_query_worker_busy_seconds_total')

function queriesIn({ head, words, floats }: Slot): FlatQueries {
  return { queryCount: head[0], words, floats }
}

function leaveFindings(findings: readonly Findings[], slot: Slot, port: MessagePort): void {
  if (findingsLength(findings) <= slot.findings.length) writeFindings(findings, slot.findings)
  else {
    slot.findings[0] = BY_MESSAGE
    post(findings, port)
  }
}

function post(findings: readonly Findings[], port: MessagePort): void {
  const flat = new Uint32Array(findingsLength(findings))
  writeFindings(findings, flat)
  port.postMessage(flat, [flat.buffer])
}

const NOBODY = new Uint32Array(0)

const LATE: Findings = { fault: 'Unavailable' }

type Given = readonly Uint32Array[] | null

interface Terms {
  readonly edgeTestCount: number
  readonly unwanted: Flag | null
  readonly given: Given
}

function find(
  touched: readonly Shard[],
  { kind, shapes, countMode, isDistinct }: TimedQuery,
  { edgeTestCount, unwanted, given }: Terms,
): Findings {
  const isUnwanted = unwanted && (() => isRaised(unwanted))
  const budget = { edgeTestCount, isUnwanted }
  try {
    if (kind === 'cover') {
      return { runs: touched.map((each) => coveredBy(each, shapes, { edgeTestCount, isUnwanted })) }
    }
    if (kind === 'offer') {
      const taken = given ?? touched.map(() => NOBODY)
      return { runs: offerWords(touched.length, offersOf(touched, shapes, taken, budget)) }
    }
    if (kind === 'firsts') {
      assert(given !== null, 'who was selected is given')
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
