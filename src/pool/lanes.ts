/**
 * The three lanes in which tasks wait for a query worker, so that no request waits long for one that takes
 * longer than itself:
 *
 *   small   up to two tasks of many selections at each worker, or one if rows wait, before others
 *   large   one at a time at a worker, which then gets nothing else; one worker is kept free of them
 *   rows    pieces of lists, encoded, measured or counted by cell, as far as a worker has fewer than two tasks, before
 *           large ones; none at the first worker while small selections come in
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { limits } from '../limits.js'
import { histogramOf, type MetricSlots, observe, slotOf } from '../metrics/memory.js'
import { lanes } from '../metrics/table.js'
import type { Channel } from './channel.js'
import type { Caller, Task, TaskResults } from './tasks.js'

export type Lane = 'small' | 'large' | 'rows'

/** The result of a task of any kind. */
export type Result = TaskResults[Task['kind']]

/** A task from when it comes until its promise is settled. */
export class PendingTask {
  /** Its neighbours in the queue. */
  previous: PendingTask | undefined
  next: PendingTask | undefined
  readonly task: Task
  readonly lane: Lane
  readonly caller: Caller
  readonly enteredMs = performance.now()
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
  attemptCount = 0
  isSettled = false

  constructor(
    task: Task,
    caller: Caller,
    resolve: (result: Result) => void,
    reject: (error: Error) => void,
  ) {
    this.task = task
    this.lane = laneOf(task)
    this.caller = caller
    this.resolve = resolve
    this.reject = reject
  }
}

export function laneOf(task: Task): Lane {
  if ('shardIndex' in task) return 'rows'
  // Given runs travel by message alone.
  return task.isLarge || task.given !== undefined ? 'large' : 'small'
}

/** A queue of tasks that are linked to one another: a task can be removed anywhere, and none costs an object. */
export class TaskQueue {
  first: PendingTask | undefined
  length = 0
  #last: PendingTask | undefined

  push(task: PendingTask): void {
    task.previous = this.#last
    if (this.#last === undefined) this.first = task
    else this.#last.next = task
    this.#last = task
    this.length++
  }

  /** @param task  in this queue */
  remove(task: PendingTask): void {
    const { previous, next } = task
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    task.previous = undefined
    task.next = undefined
    this.length--
  }
}

export type TaskQueues = Readonly<Record<Lane, TaskQueue>>

/** A worker that is ready for tasks. */
export interface QueryThread {
  readonly id: number
  /** Tasks that it was sent and has not answered. */
  readonly underWay: Record<Lane, number>
  readonly channel: Pick<
    Channel,
    'batch' | 'drain' | 'requestNotify' | 'sendBatch' | 'sendMask' | 'sendTask'
  >
}

/** The demand of the other lanes. */
interface Demand {
  /** Pieces of lists wait, and are to get their turn. */
  readonly rowsWait: boolean
  /** Small selections came lately, so that more are to be expected. */
  readonly smallComeIn: boolean
}

/** The least busy worker that may have another task of this lane. */
export function threadFor(
  lane: Lane,
  ready: readonly QueryThread[],
  demand: Demand,
): QueryThread | undefined {
  if (lane === 'large' && isFullOfLarge(ready)) return undefined
  const keptForSmall = demand.smallComeIn && ready.length > 1 ? ready[0] : undefined
  let best: QueryThread | undefined
  for (const thread of ready) {
    const isKept = thread === keptForSmall
    if (thread.underWay.large > 0 || !hasRoom(thread, lane, isKept, demand)) continue
    if (best === undefined || taskCountOf(thread) < taskCountOf(best)) best = thread
  }
  return best
}

function hasRoom(
  { underWay: { small, rows } }: QueryThread,
  lane: Lane,
  isKept: boolean,
  { rowsWait }: Demand,
): boolean {
  if (lane === 'large') return true
  if (lane === 'rows') return !isKept && small + rows < limits.tasksPerWorkerCount
  const isShared = rowsWait && !isKept
  return small < (isShared ? limits.tasksPerWorkerCount - 1 : limits.tasksPerWorkerCount)
}

function isFullOfLarge(ready: readonly QueryThread[]): boolean {
  const count = ready.reduce((sum, { underWay }) => sum + underWay.large, 0)
  return count >= Math.max(1, ready.length - 1)
}

function taskCountOf({ underWay: { small, large, rows } }: QueryThread): number {
  return small + large + rows
}

/**
 * The selections of one lane that are not answered yet, and how long one more of them would wait. A
 * client that waits for seconds has asked again before its answer comes. So a selection that would wait
 * too long is refused when it comes. RFC 8289 has the reasons for short queues.
 */
export class Backlog {
  /** Selections that wait or are under way. */
  openCount = 0
  /** The recent average of the time that one selection takes a worker. */
  #serviceMs = 0

  /** A worker has spent so long on so many selections. */
  addWork(selectionCount: number, tookMs: number): void {
    const share = Math.min(1, selectionCount * SERVICE_SMOOTHING)
    this.#serviceMs += share * (tookMs / selectionCount - this.#serviceMs)
  }

  /** @param threadCount  workers that share the work */
  isTooLong(threadCount: number): boolean {
    const serviceMs = this.#serviceMs
    const waitMs = (this.openCount * serviceMs) / Math.max(1, threadCount)
    // Where one takes long by itself, some of them may wait for each other, and two always.
    const longMs = Math.min(LONG_TASK_COUNT * serviceMs, limits.largeWaitMs)
    return waitMs > Math.max(limits.backlogMs, longMs, 2 * serviceMs)
  }

  /** How many selections travel together, so that none waits long behind them. */
  get batchCount(): number {
    const count = Math.floor(limits.batchMs / Math.max(this.#serviceMs, TINY_MS))
    return Math.min(Math.max(1, count), limits.queriesPerTaskCount)
  }
}

/** The weight of one selection in the average. */
const SERVICE_SMOOTHING = 1 / 64
const LONG_TASK_COUNT = 8
const TINY_MS = 1e-3

/**
 * The metrics of the lanes. While snapshots are switched two pools of one thread count in the same slots,
 * hence each adds and takes away its own share.
 */
export class LaneCounts {
  readonly #page: MetricSlots
  /** The share of this pool in the slots. */
  readonly #waitingCount: Record<Lane, number> = { small: 0, large: 0, rows: 0 }
  readonly #isOld: Record<Lane, boolean> = { small: false, large: false, rows: false }

  constructor(page: MetricSlots) {
    this.#page = page
  }

  /** Tasks come, or are settled. */
  opened(lane: Lane, change: 1 | -1): void {
    this.#page[slots[lane].open] += change
  }

  /** A task goes to a worker. */
  waited(lane: Lane, ms: number): void {
    observe(this.#page, slots[lane].wait, WAIT_SECONDS, ms / 1_000)
  }

  failed(taskCount: number): void {
    this.#page[TASK_FAILURES] += taskCount
  }

  /** Updates how many tasks wait, and for how long. */
  update(queues: TaskQueues, nowMs: number): void {
    const page = this.#page
    for (const lane of lanes) {
      const { length, first } = queues[lane]
      page[slots[lane].waiting] += length - this.#waitingCount[lane]
      this.#waitingCount[lane] = length
      // Where no task waits, the slot may be that of the other pool.
      if (first === undefined && !this.#isOld[lane]) continue
      this.#isOld[lane] = first !== undefined
      page[slots[lane].oldest] = first === undefined ? 0 : (nowMs - first.enteredMs) / 1_000
    }
  }
}

const slots = Object.fromEntries(
  lanes.map((lane) => [
    lane,
    {
      open: slotOf('hickory_tasks_open', lane),
      waiting: slotOf('hickory_tasks_waiting', lane),
      oldest: slotOf('hickory_oldest_task_seconds', lane),
      wait: slotOf('hickory_task_wait_seconds', lane),
    },
  ]),
) as Readonly<Record<Lane, Record<'open' | 'waiting' | 'oldest' | 'wait', number>>>

const TASK_FAILURES = slotOf('hickory_task_failures_total')
const WAIT_SECONDS = histogramOf('hickory_task_wait_seconds')
