/**
 * Keeps what is asked of the query workers until it is answered, and decides what they do next.
 *
 * Small selections that arrive in one turn of the event loop travel together, and while workers are
 * busy further ones gather.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { OVERLOADED, type ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { type Page, privatePage } from '../metrics/slots.js'
import { Backlog } from './backlog.js'
import { createFlag, type Flag, raise } from './control.js'
import { FindingsReader } from './flat-findings.js'
import { flatten } from './flat-queries.js'
import { LaneCounts } from './lane-counts.js'
import { Line } from './line.js'
import { type Caller, sharedClockMs, type Task } from './messages.js'
import { takeOverdue } from './overdue.js'
import { type Lane, placeFor } from './placement.js'
import { GONE, NOT_SERVED, RESTARTING, refused, unavailable } from './refusals.js'
import { RowBuffers } from './row-buffers.js'
import {
  laneOf,
  mayFollow,
  type Result,
  Waiting,
  type WaitingCells,
  type WaitingRowBytes,
  type WaitingRows,
  type WaitingSelection,
} from './waiting.js'
import type { Counted, RowsWritten } from './worker-messages.js'
import type { QueryThreads, TaskWay } from './worker-threads.js'

type Thread = QueryThreads['ready'][number]

export class Scheduler {
  readonly #threads: QueryThreads
  readonly #log: Log
  readonly #lanes: Readonly<Record<Lane, Line<Waiting>>> = {
    small: new Line(),
    large: new Line(),
    rows: new Line(),
  }
  /** The tasks that workers have been sent and not answered, as they travel together. */
  readonly #underWay = new Set<readonly Waiting[]>()
  /** How many are not settled, whether they wait or are under way. */
  #openCount = 0
  readonly #backlogs = { small: new Backlog(), large: new Backlog() }
  readonly #buffers = new RowBuffers()
  readonly #counts: LaneCounts
  readonly #deadlineTimer: NodeJS.Timeout
  #isTurnPlanned = false
  /** Whether a task has come since the last turn; when a turn last had something to do. */
  #isStirred = false
  #stirredMs = Number.NEGATIVE_INFINITY
  #isStopped = false
  #lastSmallMs = Number.NEGATIVE_INFINITY
  /** The time that tasks of small selections have taken lately, there and back; when the last was sent. */
  #smallTaskMs = 0
  #smallSentMs = 0

  /** @param page  of the front thread */
  constructor(threads: QueryThreads, log: Log, page: Page = privatePage()) {
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
      const waiting = new Waiting(task, caller, resolve, reject)
      const { lane } = waiting
      this.#count(lane, 1)
      this.#lanes[lane].join(waiting)
      if (lane === 'small') this.#lastSmallMs = waiting.enteredMs
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
    // Those that were let in when there was room do not pay for a worker that has died since.
    const isTooLong = lane === 'large' ? this.#isTooLong(lane) : this.#hasBacklog(lane)
    return isTooLong ? OVERLOADED : undefined
  }

  /** Whether a new request would wait too long; large ones are told by the size of their body. */
  isFull(bodyBytes: number): boolean {
    return (
      this.#openCount >= limits.tasksQueuedCount ||
      this.#isTooLong('small') ||
      (bodyBytes > limits.smallBodyBytes && this.#isTooLong('large'))
    )
  }

  /** Takes nothing more, and refuses what still waits. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#deadlineTimer)
    for (const lane of Object.values(this.#lanes)) {
      for (let each = lane.first; each !== undefined; each = lane.first) {
        lane.leave(each)
        this.#fail(each, unavailable(NOT_SERVED))
      }
    }
    this.#counts.tell(this.#lanes, performance.now())
  }

  /** Whether one more of a lane would wait too long, or the first that waits has done so. */
  #isTooLong(lane: 'small' | 'large'): boolean {
    const { first } = this.#lanes[lane]
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
    for (const { way } of ready) if (way.drain()) this.#isStirred = true
    while (this.#sendSmall() || this.#sendRows() || this.#sendLarge());
    if (this.#underWay.size === 0) return
    const nowMs = performance.now()
    if (this.#isStirred) this.#stirredMs = nowMs
    this.#isStirred = false
    const isSoonDone = this.#smallTaskMs < limits.awakeTaskMs
    const staysAwakeMs = isSoonDone ? limits.awakeMs : 0
    if (nowMs - this.#stirredMs <= staysAwakeMs) this.#planTurn()
    else for (const { way } of ready) way.letWake()
  }

  #sendSmall(): boolean {
    const lane = this.#lanes.small
    const thread = this.#placeFor('small')
    if (thread === undefined || lane.length === 0) return false
    if (lane.length < limits.queriesGatheredCount && this.#isShortUnderWay()) return false
    const batch = this.#fill(thread.way)
    if (batch.length > 0) this.#sendBatch(thread, batch)
    else this.#sendAlone(thread, 'small', null)
    return true
  }

  /** Writes the next small selections for which somebody waits, as far as there is room. */
  #fill(way: TaskWay): WaitingSelection[] {
    const into = way.batch
    const batch: WaitingSelection[] = []
    const toSharedMs = sharedClockMs() - performance.now()
    const lane = this.#lanes.small
    const count = this.#backlogs.small.togetherCount
    for (let next = lane.first; next !== undefined; next = lane.first) {
      const waiting = next as WaitingSelection
      if (batch.length === count || !mayFollow(waiting, batch)) break
      if (waiting.caller.gone) {
        lane.leave(waiting)
        this.#fail(waiting, unavailable(GONE))
        continue
      }
      if (waiting.task.mask !== null) way.bring(waiting.task.mask)
      if (!into.write(waiting.task, waiting.caller.deadlineMs + toSharedMs)) break
      lane.leave(waiting)
      batch.push(waiting)
    }
    return batch
  }

  #placeFor(lane: Lane): Thread | undefined {
    return placeFor(lane, this.#threads.ready, {
      rowsWait: this.#lanes.rows.length > 0,
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
    const thread = this.#placeFor('large')
    if (thread === undefined || this.#lanes.large.length === 0) return false
    this.#sendAlone(thread, 'large', createFlag())
    return true
  }

  #sendRows(): boolean {
    const thread = this.#placeFor('rows')
    if (thread === undefined || this.#lanes.rows.length === 0) return false
    const waiting = this.#takeFirst('rows')
    if (waiting?.task.kind === 'encode') this.#encode(thread, waiting as WaitingRows)
    else if (waiting !== undefined) this.#measure(thread, waiting as WaitingRowBytes | WaitingCells)
    return true
  }

  /** The first for whom somebody waits. */
  #takeFirst(lane: Lane): Waiting | undefined {
    const line = this.#lanes[lane]
    for (let waiting = line.first; waiting !== undefined; waiting = line.first) {
      line.leave(waiting)
      if (!waiting.caller.gone) return waiting
      this.#fail(waiting, unavailable(GONE))
    }
    return undefined
  }

  #sendBatch(thread: Thread, batch: readonly WaitingSelection[]): void {
    const sentMs = this.#begin(thread, batch)
    this.#smallSentMs = sentMs
    thread.way.sendBatch({
      ended: (flat, tookMs) => {
        this.#smallTaskMs += SMOOTHING * (performance.now() - sentMs - this.#smallTaskMs)
        this.#settleAll(thread, batch, flat as Uint32Array, tookMs)
      },
      failed: (error) => this.#retry(thread, batch, error),
    })
  }

  /** @param unwanted  raised when nobody waits for it any more */
  #sendAlone(thread: Thread, lane: 'small' | 'large', unwanted: Flag | null): void {
    const waiting = this.#takeFirst(lane) as WaitingSelection | undefined
    if (waiting === undefined) return
    const { task, caller } = waiting
    const alone = [waiting]
    if (unwanted !== null) caller.whenOver(() => raise(unwanted))
    const expiresMs = caller.deadlineMs + sharedClockMs() - performance.now()
    this.#begin(thread, alone)
    if (task.mask !== null) thread.way.bring(task.mask)
    thread.way.sendTask(
      { kind: 'queries', ...flatten(task, expiresMs), unwanted, given: task.given ?? null },
      {
        ended: (flat, tookMs) => this.#settleAll(thread, alone, flat as Uint32Array, tookMs),
        failed: (error) => this.#retry(thread, alone, error),
      },
    )
  }

  #measure(thread: Thread, waiting: WaitingRowBytes | WaitingCells): void {
    const alone = [waiting]
    this.#begin(thread, alone)
    thread.way.sendTask(waiting.task, {
      ended: (result) => {
        this.#back(thread, alone)
        this.#succeed(waiting, (result as Counted).counted)
      },
      failed: (error) => this.#retry(thread, alone, error),
    })
  }

  #encode(thread: Thread, waiting: WaitingRows): void {
    const { shardIndex, runs, format } = waiting.task
    const into = this.#buffers.take()
    const alone = [waiting]
    this.#begin(thread, alone)
    thread.way.sendTask(
      { kind: 'rows', shardIndex, runs, format, into },
      {
        ended: (written) => {
          const { rowCount, byteCount } = written as RowsWritten
          this.#back(thread, alone)
          const release = () => this.#buffers.giveBack(into)
          if (waiting.isSettled) release()
          else this.#succeed(waiting, { rowCount, bytes: into.subarray(0, byteCount), release })
        },
        // The buffer is given up, since the worker that fails may still write into it.
        failed: (error) => this.#retry(thread, alone, error),
      },
    )
  }

  /** @returns when the tasks are sent, by the clock of `performance.now()` */
  #begin(thread: Thread, batch: readonly Waiting[]): number {
    const sentMs = performance.now()
    thread.underWay[batch[0].lane]++
    this.#underWay.add(batch)
    for (const waiting of batch) {
      waiting.attemptCount++
      waiting.caller.waited?.(sentMs - waiting.enteredMs)
      this.#counts.waited(waiting.lane, sentMs - waiting.enteredMs)
    }
    return sentMs
  }

  /** The worker has done a batch, or has died of it. */
  #back(thread: Thread, batch: readonly Waiting[]): void {
    thread.underWay[batch[0].lane]--
    this.#underWay.delete(batch)
    this.#planTurn()
  }

  #settleAll(
    thread: Thread,
    batch: readonly WaitingSelection[],
    flat: Uint32Array,
    tookMs: number,
  ): void {
    this.#back(thread, batch)
    this.#backlogs[batch[0].lane as 'small' | 'large'].spent(batch.length, tookMs)
    const findings = new FindingsReader(flat)
    for (const waiting of batch) {
      const fault = findings.nextFault()
      const { kind, shardIndexes } = waiting.task
      if (fault !== undefined) this.#fail(waiting, refused(fault))
      else if (kind === 'count') this.#succeed(waiting, findings.counts(shardIndexes.length))
      else this.#succeed(waiting, findings.runs(shardIndexes.length))
    }
  }

  /**
   * Every task gives the same answer on every worker, so one that a worker took with it when it
   * died is simply run again.
   */
  #retry(thread: Thread, batch: readonly Waiting[], error: unknown): void {
    const level = this.#isStopped ? 'debug' : 'error'
    const { lane } = batch[0]
    this.#back(thread, batch)
    this.#counts.failed(batch.length)
    this.#log[level]({ lane, taskCount: batch.length, ...describeFault(error) }, 'tasks failed')
    for (const waiting of batch) {
      if (waiting.isSettled) continue
      const mayTry = waiting.attemptCount < limits.taskAttemptCount && !this.#isStopped
      if (mayTry) this.#lanes[waiting.lane].join(waiting)
      else this.#fail(waiting, unavailable(RESTARTING))
    }
  }

  #succeed(waiting: Waiting, result: Result): void {
    if (this.#end(waiting)) waiting.resolve(result)
  }

  #fail(waiting: Waiting, error: ServiceError): void {
    if (this.#end(waiting)) waiting.reject(error)
  }

  #count(lane: Lane, change: 1 | -1): void {
    this.#openCount += change
    this.#counts.opened(lane, change)
    if (lane !== 'rows') this.#backlogs[lane].openCount += change
  }

  /** False when it had ended before. */
  #end(waiting: Waiting): boolean {
    if (waiting.isSettled) return false
    waiting.isSettled = true
    this.#count(waiting.lane, -1)
    return true
  }

  #endLate(): void {
    const nowMs = performance.now()
    for (const late of takeOverdue(Object.values(this.#lanes), this.#underWay, nowMs)) {
      this.#fail(late, refused('Unavailable'))
    }
    this.#counts.tell(this.#lanes, nowMs)
    // For what has gathered behind a task that takes long.
    if (this.#lanes.small.length > 0) this.#planTurn()
  }
}

/** Of each task in the average of what they take. */
const SMOOTHING = 1 / 16
