/**
 * Keeps tasks until the query workers have answered them, and decides what each worker does next.
 *
 * Small selections that arrive in one turn of the event loop travel together, and while workers are
 * busy further ones gather.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { NO_ANSWER_IN_TIME } from '../deadline.js'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { MetricSlots } from '../metrics/memory.js'
import {
  type CancelFlag,
  type CountResult,
  cancel,
  createCancelFlag,
  type RowsResult,
} from './channel.js'
import { FindingsReader, flatten } from './codec.js'
import {
  Backlog,
  type Lane,
  LaneCounts,
  laneOf,
  PendingTask,
  type QueryThread,
  type Result,
  TaskQueue,
  type TaskQueues,
  threadFor,
} from './lanes.js'
import {
  type Caller,
  type CellsTask,
  CLIENT_DISCONNECTED,
  type EncodeTask,
  type QueryFault,
  type RowBytesTask,
  type SelectionKind,
  type SelectionTask,
  sharedClockMs,
  type Task,
} from './tasks.js'

/** The workers, which come and go. */
export interface QueryThreads {
  readonly ready: readonly QueryThread[]
  /** Called when a worker has become ready. */
  onReady: () => void
}

type PendingSelection = PendingTask & { readonly task: SelectionTask<SelectionKind> }
type PendingRows = PendingTask & { readonly task: EncodeTask }
type PendingCount = PendingTask & { readonly task: RowBytesTask | CellsTask }

export class Scheduler {
  readonly #threads: QueryThreads
  readonly #log: Log
  readonly #queues: TaskQueues = {
    small: new TaskQueue(),
    large: new TaskQueue(),
    rows: new TaskQueue(),
  }
  /** The tasks that workers were sent and have not answered, as they travel together. */
  readonly #underWay = new Set<readonly PendingTask[]>()
  /** Tasks that are not settled, whether they wait or are under way. */
  #openCount = 0
  readonly #backlogs = { small: new Backlog(), large: new Backlog() }
  /** Shared memory for rows, reused: new memory for each piece of a list would grow faster than it is collected. */
  readonly #freeBuffers: Uint8Array[] = []
  readonly #counts: LaneCounts
  readonly #deadlineTimer: NodeJS.Timeout
  #isTurnPlanned = false
  /** Whether a task has come since the last turn; when a turn last had something to do. */
  #isStirred = false
  #stirredMs = Number.NEGATIVE_INFINITY
  #isStopped = false
  #lastSmallMs = Number.NEGATIVE_INFINITY
  /** The recent average of the time of tasks of small selections, there and back; when the last was sent. */
  #smallTaskMs = 0
  #smallSentMs = 0

  /** @param page  of the front thread */
  constructor(threads: QueryThreads, log: Log, page: MetricSlots) {
    this.#threads = threads
    this.#counts = new LaneCounts(page)
    this.#log = log
    threads.onReady = () => this.#planTurn()
    this.#deadlineTimer = setInterval(() => this.#endLate(), limits.deadlineCheckMs).unref()
  }

  /** @throws ServiceError  TooComplex, Overloaded or Unavailable */
  run(task: Task, caller: Caller): Promise<Result> {
    const refusal = this.#refusalOf(task, caller)
    if (refusal !== undefined) return Promise.reject(refusal)
    caller.isLetIn = true
    return new Promise((resolve, reject) => {
      const pending = new PendingTask(task, caller, resolve, reject)
      const { lane } = pending
      this.#count(lane, 1)
      this.#queues[lane].push(pending)
      if (lane === 'small') this.#lastSmallMs = pending.enteredMs
      this.#isStirred = true
      this.#planTurn()
    })
  }

  #refusalOf(task: Task, caller: Caller): ServiceError | undefined {
    if (this.#isStopped) return unavailable(NOT_SERVED)
    const lane = laneOf(task)
    // A list goes on: to refuse a piece of one that has begun would break off what is half answered.
    if (lane === 'rows') return undefined
    if (this.#openCount >= limits.tasksQueuedCount) return OVERLOADED
    // A batch, or a large request in several tasks, would have done the rest in vain.
    if (caller.isLetIn) return undefined
    // Requests that were let in when there was room do not pay for a worker that has died since.
    const isTooLong = lane === 'large' ? this.#isTooLong(lane) : this.#hasBacklog(lane)
    return isTooLong ? OVERLOADED : undefined
  }

  /** Whether a new request would wait too long; large ones are known by the size of their body. */
  isFull(bodyBytes: number): boolean {
    return (
      this.#openCount >= limits.tasksQueuedCount ||
      this.#isTooLong('small') ||
      (bodyBytes > limits.smallBodyBytes && this.#isTooLong('large'))
    )
  }

  /** Accepts nothing more, and refuses what still waits. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#deadlineTimer)
    for (const queue of Object.values(this.#queues)) {
      for (let each = queue.first; each !== undefined; each = queue.first) {
        queue.remove(each)
        this.#fail(each, unavailable(NOT_SERVED))
      }
    }
    this.#counts.update(this.#queues, performance.now())
  }

  /** Whether one more of a lane would wait too long, or the first that waits has done so. */
  #isTooLong(lane: 'small' | 'large'): boolean {
    const { first } = this.#queues[lane]
    const waitedMs = first === undefined ? 0 : performance.now() - first.enteredMs
    if (waitedMs > (lane === 'small' ? limits.smallWaitMs : limits.largeWaitMs)) return true
    return this.#hasBacklog(lane)
  }

  #hasBacklog(lane: 'small' | 'large'): boolean {
    const { ready } = this.#threads
    let threadCount = 0
    if (lane === 'large') threadCount = ready.length - 1
    else for (const { underWay } of ready) if (underWay.large === 0) threadCount++
    return this.#backlogs[lane].isTooLong(threadCount)
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    // After the sockets that are ready in this turn were all read.
    setImmediate(this.#turn)
  }

  /**
   * Ends what workers have done, and sends what waits. Turns follow one another for as long as there is
   * something to do, and a moment longer where results come soon: it costs both threads more if a worker
   * must wake this one.
   */
  readonly #turn = (): void => {
    this.#isTurnPlanned = false
    const { ready } = this.#threads
    for (const { channel } of ready) if (channel.drain()) this.#isStirred = true
    while (this.#sendSmall() || this.#sendRows() || this.#sendLarge());
    if (this.#underWay.size === 0) return
    const nowMs = performance.now()
    if (this.#isStirred) this.#stirredMs = nowMs
    this.#isStirred = false
    const isSoonDone = this.#smallTaskMs < limits.awakeTaskMs
    const staysAwakeMs = isSoonDone ? limits.awakeMs : 0
    if (nowMs - this.#stirredMs <= staysAwakeMs) this.#planTurn()
    else for (const { channel } of ready) channel.requestNotify()
  }

  #sendSmall(): boolean {
    const queue = this.#queues.small
    const thread = this.#threadFor('small')
    if (thread === undefined || queue.length === 0) return false
    if (queue.length < limits.queriesGatheredCount && this.#isShortUnderWay()) return false
    const batch = this.#fillBatch(thread.channel)
    if (batch.length > 0) this.#sendBatch(thread, batch)
    else this.#sendAlone(thread, 'small', null)
    return true
  }

  /** Writes the next small selections whose client is connected, as far as there is room. */
  #fillBatch(channel: QueryThread['channel']): PendingSelection[] {
    const into = channel.batch
    const batch: PendingSelection[] = []
    const toSharedMs = sharedClockMs() - performance.now()
    const queue = this.#queues.small
    const count = this.#backlogs.small.batchCount
    for (let first = queue.first; first !== undefined; first = queue.first) {
      const pending = first as PendingSelection
      if (batch.length === count || !mayFollow(pending, batch)) break
      if (pending.caller.gone) {
        queue.remove(pending)
        this.#fail(pending, unavailable(CLIENT_DISCONNECTED))
        continue
      }
      if (pending.task.mask !== null) channel.sendMask(pending.task.mask)
      if (!into.write(pending.task, pending.caller.deadlineMs + toSharedMs)) break
      queue.remove(pending)
      batch.push(pending)
    }
    return batch
  }

  #threadFor(lane: Lane): QueryThread | undefined {
    return threadFor(lane, this.#threads.ready, {
      rowsWait: this.#queues.rows.length > 0,
      smallComeIn: performance.now() - this.#lastSmallMs < limits.smallRecentMs,
    })
  }

  /** Whether there is a task of small selections that is likely to be answered in a moment. */
  #isShortUnderWay(): boolean {
    return (
      this.#smallTaskMs < limits.shortTaskMs &&
      performance.now() - this.#smallSentMs < limits.gatherMs &&
      this.#threads.ready.some(({ underWay }) => underWay.small > 0)
    )
  }

  #sendLarge(): boolean {
    const thread = this.#threadFor('large')
    if (thread === undefined || this.#queues.large.length === 0) return false
    this.#sendAlone(thread, 'large', createCancelFlag())
    return true
  }

  #sendRows(): boolean {
    const thread = this.#threadFor('rows')
    if (thread === undefined || this.#queues.rows.length === 0) return false
    const pending = this.#shift('rows')
    if (pending?.task.kind === 'encode') this.#encode(thread, pending as PendingRows)
    else if (pending !== undefined) this.#measure(thread, pending as PendingCount)
    return true
  }

  /** Removes the first task whose client is connected. */
  #shift(lane: Lane): PendingTask | undefined {
    const queue = this.#queues[lane]
    for (let pending = queue.first; pending !== undefined; pending = queue.first) {
      queue.remove(pending)
      if (!pending.caller.gone) return pending
      this.#fail(pending, unavailable(CLIENT_DISCONNECTED))
    }
    return undefined
  }

  #sendBatch(thread: QueryThread, batch: readonly PendingSelection[]): void {
    const sentMs = this.#begin(thread, batch)
    this.#smallSentMs = sentMs
    thread.channel.sendBatch({
      done: (flat, tookMs) => {
        this.#smallTaskMs += TASK_SMOOTHING * (performance.now() - sentMs - this.#smallTaskMs)
        this.#settleAll(thread, batch, flat as Uint32Array, tookMs)
      },
      failed: (error) => this.#retry(thread, batch, error),
    })
  }

  /** @param cancelFlag  raised when the client disconnects */
  #sendAlone(thread: QueryThread, lane: 'small' | 'large', cancelFlag: CancelFlag | null): void {
    const pending = this.#shift(lane) as PendingSelection | undefined
    if (pending === undefined) return
    const { task, caller } = pending
    const alone = [pending]
    if (cancelFlag !== null) caller.whenOver(() => cancel(cancelFlag))
    const expiresMs = caller.deadlineMs + sharedClockMs() - performance.now()
    this.#begin(thread, alone)
    if (task.mask !== null) thread.channel.sendMask(task.mask)
    thread.channel.sendTask(
      { kind: 'queries', ...flatten(task, expiresMs), cancelFlag, given: task.given ?? null },
      {
        done: (flat, tookMs) => this.#settleAll(thread, alone, flat as Uint32Array, tookMs),
        failed: (error) => this.#retry(thread, alone, error),
      },
    )
  }

  #measure(thread: QueryThread, pending: PendingCount): void {
    const alone = [pending]
    this.#begin(thread, alone)
    thread.channel.sendTask(pending.task, {
      done: (result) => {
        this.#release(thread, alone)
        this.#succeed(pending, (result as CountResult).counted)
      },
      failed: (error) => this.#retry(thread, alone, error),
    })
  }

  #encode(thread: QueryThread, pending: PendingRows): void {
    const { shardIndex, runs, format } = pending.task
    const into =
      this.#freeBuffers.pop() ?? new Uint8Array(new SharedArrayBuffer(limits.rowBufferBytes))
    const alone = [pending]
    this.#begin(thread, alone)
    thread.channel.sendTask(
      { kind: 'rows', shardIndex, runs, format, into },
      {
        done: (written) => {
          const { rowCount, byteCount } = written as RowsResult
          this.#release(thread, alone)
          const release = () => {
            if (this.#freeBuffers.length < limits.rowBufferCount) this.#freeBuffers.push(into)
          }
          if (pending.isSettled) release()
          else this.#succeed(pending, { rowCount, bytes: into.subarray(0, byteCount), release })
        },
        // The buffer is not reused, since the worker that fails may still write into it.
        failed: (error) => this.#retry(thread, alone, error),
      },
    )
  }

  /** @returns when the tasks are sent, by the clock of `performance.now()` */
  #begin(thread: QueryThread, batch: readonly PendingTask[]): number {
    const sentMs = performance.now()
    thread.underWay[batch[0].lane]++
    this.#underWay.add(batch)
    for (const pending of batch) {
      pending.attemptCount++
      pending.caller.waited?.(sentMs - pending.enteredMs)
      this.#counts.waited(pending.lane, sentMs - pending.enteredMs)
    }
    return sentMs
  }

  /** The worker has done a batch, or has died of it. */
  #release(thread: QueryThread, batch: readonly PendingTask[]): void {
    thread.underWay[batch[0].lane]--
    this.#underWay.delete(batch)
    this.#planTurn()
  }

  #settleAll(
    thread: QueryThread,
    batch: readonly PendingSelection[],
    flat: Uint32Array,
    tookMs: number,
  ): void {
    this.#release(thread, batch)
    this.#backlogs[batch[0].lane as 'small' | 'large'].addWork(batch.length, tookMs)
    const findings = new FindingsReader(flat)
    for (const pending of batch) {
      const fault = findings.nextFault()
      const { kind, shardIndexes } = pending.task
      if (fault !== undefined) this.#fail(pending, refused(fault))
      else if (kind === 'count') this.#succeed(pending, findings.counts(shardIndexes.length))
      else this.#succeed(pending, findings.runs(shardIndexes.length))
    }
  }

  /** Every task has the same result on every worker, so a task of a worker that died is run again. */
  #retry(thread: QueryThread, batch: readonly PendingTask[], error: unknown): void {
    const level = this.#isStopped ? 'debug' : 'error'
    const { lane } = batch[0]
    this.#release(thread, batch)
    this.#counts.failed(batch.length)
    this.#log[level]({ lane, taskCount: batch.length, ...describeFault(error) }, 'tasks failed')
    for (const pending of batch) {
      if (pending.isSettled) continue
      const mayTry = pending.attemptCount < limits.taskAttemptCount && !this.#isStopped
      if (mayTry) this.#queues[pending.lane].push(pending)
      else this.#fail(pending, unavailable(RESTARTING))
    }
  }

  #succeed(pending: PendingTask, result: Result): void {
    if (this.#settle(pending)) pending.resolve(result)
  }

  #fail(pending: PendingTask, error: ServiceError): void {
    if (this.#settle(pending)) pending.reject(error)
  }

  /** @returns false when it was settled before */
  #settle(pending: PendingTask): boolean {
    if (pending.isSettled) return false
    pending.isSettled = true
    this.#count(pending.lane, -1)
    return true
  }

  #count(lane: Lane, change: 1 | -1): void {
    this.#openCount += change
    this.#counts.opened(lane, change)
    if (lane !== 'rows') this.#backlogs[lane].openCount += change
  }

  /** Fails the tasks that have timed out, whether they wait or are under way. */
  #endLate(): void {
    const nowMs = performance.now()
    for (const queue of Object.values(this.#queues)) {
      for (let pending = queue.first; pending !== undefined; ) {
        const { next } = pending
        if (pending.caller.deadlineMs <= nowMs) {
          queue.remove(pending)
          this.#fail(pending, refused('Unavailable'))
        }
        pending = next
      }
    }
    for (const batch of this.#underWay) {
      for (const pending of batch) {
        if (pending.caller.deadlineMs <= nowMs) this.#fail(pending, refused('Unavailable'))
      }
    }
    this.#counts.update(this.#queues, nowMs)
    // For what has gathered behind a task that takes long.
    if (this.#queues.small.length > 0) this.#planTurn()
  }
}

/** The weight of one task in the average. */
const TASK_SMOOTHING = 1 / 16

/** A task that has failed before travels alone. */
function mayFollow(pending: PendingTask, batch: readonly PendingTask[]): boolean {
  return batch.length === 0 || (pending.attemptCount === 0 && batch[0].attemptCount === 0)
}

const NOT_SERVED = 'this snapshot is not served any more; ask again'
const RESTARTING = 'the query workers are restarting; try again soon'

function unavailable(message: string): ServiceError {
  return new ServiceError('Unavailable', message)
}

/** The fault of a worker. */
function refused(fault: QueryFault): ServiceError {
  return new ServiceError(fault, FAULT_MESSAGES[fault])
}

const FAULT_MESSAGES: Readonly<Record<QueryFault, string>> = {
  TooComplex: 'the shapes of this request cost more work than one request may take; simplify them',
  Unavailable: NO_ANSWER_IN_TIME,
}
