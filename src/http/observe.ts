/**
 * Records each finished request: in the metrics of its thread, in the log at level `debug`, and in a warning where its
 * answer was cut off. Nothing here has anything of the question or of the answer: no paths, no members, no phones, no
 * positions.
 *
 * @module
 */
// The global of this name is an accessor, whose call costs more than reading the clock.
import { performance } from 'node:perf_hooks'
import { NO_ANSWER_IN_TIME } from '../deadline.js'
import { errorTables, type ServiceErrorCode } from '../errors.js'
import { operationNames } from '../interface/operation-names.js'
import type { OperationName } from '../interface/operations.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { histogramOf, type MetricSlots, observe, slotOf } from '../metrics/memory.js'
import {
  type CutReason,
  cutReasons,
  NO_STATUS,
  OTHER,
  stages,
  statusLabels,
} from '../metrics/table.js'
import type { AuditedRequest } from './audited-request.js'

/** A finished request. To be read during the call that it is handed to, and not to be kept. */
export interface RequestEnd {
  readonly requestId: string
  /** Undefined for other routes, and for requests that were refused before it was known. */
  readonly operation: OperationName | undefined
  readonly isBatch: boolean
  /** Whether the answer had no end of its own: its client watched, and may leave at any time. */
  readonly isWatch: boolean
  /** Undefined where no answer was begun. */
  readonly status: number | undefined
  /** The code of the error that was answered; undefined where the answer was none. */
  readonly faultCode: ServiceErrorCode | undefined
  /** `left`: the client disconnected; `cut`: the service broke the connection off. */
  readonly outcome: 'answered' | 'left' | 'cut'
  /** Why it was cut; undefined if it was not. */
  readonly cutReason: string | undefined
  /** The size of the request's body, as far as it was taken from the connection. */
  readonly bytesIn: number
  /** The size of the answer's body, as far as it was written; the HTTP library may still hold the end. */
  readonly bytesOut: number
  /** Recipients that were written into the answer. */
  readonly rowCount: number
  readonly stageMs: StageTimes
  /** When the request came, by the clock of `performance.now()`. */
  readonly startedMs: number
  /** The name of the key that was sent; undefined without one. */
  readonly keyName: string | undefined
  /** The address of the client, where the access log asked for it in time; otherwise undefined. */
  readonly address: string | undefined
  readonly traceParent: TraceParent | undefined
  /** Whether the access log takes it as a sample. */
  readonly isSampled: boolean
  /** Undefined where the audit has no line of the request. */
  readonly audited: AuditedRequest | undefined
}

export class RequestObserver {
  readonly #log: Log
  readonly #page: MetricSlots
  #cutSecond = 0
  #cutCount = 0
  #unloggedCutCount = 0

  /** @param page  the metrics of the thread */
  constructor(log: Log, page: MetricSlots) {
    this.#log = log
    this.#page = page
  }

  /** To be called once for each request, when it is over. */
  over(end: RequestEnd): void {
    this.#count(end)
    if (this.#log.isLevelEnabled('debug')) this.#log.debug(requestFields(end), 'a request is over')
    // Without a status, no answer was begun: its client has nothing that it could take for a whole.
    if (end.cutReason !== undefined && end.status !== undefined) this.#warnOfCut(end)
  }

  #count(end: RequestEnd): void {
    const page = this.#page
    const { status, faultCode, cutReason, stageMs, isWatch } = end
    const { statusSlots, answerSlot } = slotsByOperation.get(end.operation) ?? otherSlots
    page[statusSlots[status ?? 0] ?? statusSlots[OTHER_STATUS]]++
    if (faultCode !== undefined) page[refusalSlots[faultCode]]++
    if (cutReason !== undefined) page[cutSlots[countedReason(cutReason, isWatch)]]++
    else if (end.outcome === 'left' && !isWatch) page[LEFT]++
    page[BYTES_IN] += end.bytesIn
    page[BYTES_OUT] += end.bytesOut
    page[ROWS] += end.rowCount
    const { receive, parse, wait, select, write } = stageMs
    const answer = parse + wait + select
    observe(page, answerSlot, ANSWER_SECONDS, answer / 1_000)
    observe(page, stageSlots.receive, STAGE_SECONDS, receive / 1_000)
    observe(page, stageSlots.parse, STAGE_SECONDS, parse / 1_000)
    observe(page, stageSlots.wait, STAGE_SECONDS, wait / 1_000)
    observe(page, stageSlots.select, STAGE_SECONDS, select / 1_000)
    // How long a client watches says nothing about the service.
    if (isWatch) return
    observe(page, stageSlots.write, STAGE_SECONDS, write / 1_000)
    observe(page, stageSlots.total, STAGE_SECONDS, (receive + answer + write) / 1_000)
  }

  /** The client has a part of an answer that looks right at a glance. Some lines a second at most. */
  #warnOfCut({ requestId, operation, isBatch, bytesOut, cutReason: reason }: RequestEnd): void {
    const second = Math.floor(performance.now() / 1_000)
    if (second !== this.#cutSecond) this.#cutCount = 0
    this.#cutSecond = second
    if (this.#cutCount >= limits.cutsLoggedPerSecondCount) {
      this.#unloggedCutCount++
      return
    }
    this.#cutCount++
    const unloggedCount = this.#unloggedCutCount
    this.#unloggedCutCount = 0
    this.#log.warn(
      {
        requestId,
        operation,
        ...(isBatch && { isBatch }),
        bytesOut,
        reason,
        ...(unloggedCount > 0 && { unloggedCount }),
      },
      'an answer was cut off',
    )
  }
}

/** The fields of a request that every log has. */
export function requestFields(end: RequestEnd): Readonly<Record<string, unknown>> {
  const { requestId, operation, isBatch, status, outcome, bytesIn, bytesOut, stageMs } = end
  const { receive, parse, wait, select, write } = stageMs
  return {
    requestId,
    operation,
    ...(isBatch && { isBatch }),
    status,
    outcome,
    bytesIn,
    bytesOut,
    receiveMs: rounded(receive),
    parseMs: rounded(parse),
    waitMs: rounded(wait),
    selectMs: rounded(select),
    writeMs: rounded(write),
  }
}

/** To whole microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** Why answers are cut off, in the words of the log. */
export const TOO_SLOW = 'the client reads too slowly'
export const HANDLER_FAILED = 'a handler failed'
export const NOT_COMPRESSED = 'the body could not be compressed'
export const WRONG_LENGTH = 'a body is not as long as was told'

function countedReason(reason: string, isWatch: boolean): CutReason {
  if (isWatch && reason === TOO_SLOW) return 'slow_watcher'
  // The pool has other reasons: the snapshot is not served any more, or its workers are lost.
  return countedReasons.get(reason) ?? 'unavailable'
}

const countedReasons: ReadonlyMap<string, CutReason> = new Map([
  [TOO_SLOW, 'slow_reader'],
  [NO_ANSWER_IN_TIME, 'late'],
  [HANDLER_FAILED, 'failure'],
  [NOT_COMPRESSED, 'failure'],
  [WRONG_LENGTH, 'failure'],
])

/**
 * - `receive`: the body of the request arrives.
 * - `parse`: routing, the gate, and everything from the bytes of the body to the members.
 * - `wait`: the longest time for which a task of the request waited for a thread.
 * - `select`: everything else that the operation does before it has an answer.
 * - `write`: the answer is encoded, and the client takes it.
 *
 * A request that is refused ends in the stage that refused it.
 */
type Stage = 'receive' | 'parse' | 'wait' | 'select' | 'write'

/** Milliseconds. */
export type StageTimes = Readonly<Record<Stage, number>>

const times: Record<Stage, number> = { receive: 0, parse: 0, wait: 0, select: 0, write: 0 }

/** Measures the stages of one request. */
export class StageClock {
  #receive = 0
  #parse = 0
  #wait = 0
  #select = 0
  #write = 0
  #stage: Exclude<Stage, 'wait'> = 'parse'
  /** When the request came, by the clock of `performance.now()`. */
  readonly startedMs = performance.now()
  #sinceMs = this.startedMs

  /** Ends the stage that runs, and begins another one. */
  enter(stage: Exclude<Stage, 'wait'>): void {
    const nowMs = performance.now()
    const ms = nowMs - this.#sinceMs
    if (this.#stage === 'receive') this.#receive += ms
    else if (this.#stage === 'parse') this.#parse += ms
    else if (this.#stage === 'select') this.#select += ms
    else this.#write += ms
    this.#stage = stage
    this.#sinceMs = nowMs
  }

  /** A task of the request has waited so long for a thread. */
  waited(ms: number): void {
    if (ms > this.#wait) this.#wait = ms
  }

  /** The times so far, in an object that is used again: for each request, it is asked for at least once. */
  read(): StageTimes {
    this.enter(this.#stage)
    times.receive = this.#receive
    times.parse = this.#parse
    times.wait = this.#wait
    times.select = Math.max(0, this.#select - this.#wait)
    times.write = this.#write
    return times
  }
}

/** The header `Server-Timing` (W3C): the stages that are over when an answer begins, in milliseconds. */
export function serverTiming({ receive, parse, wait, select }: StageTimes): string {
  return Object.entries({ receive, parse, wait, select })
    .map(([stage, ms]) => `${stage};dur=${ms.toFixed(3)}`)
    .join(', ')
}

/** The trace that a request belongs to, by which logs of several programs are joined (W3C Trace Context, level 1). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The id of the client's span: 16 hexadecimal digits. */
  readonly parentId: string
}

/**
 * @param sent  the header `traceparent`
 * @returns undefined for what is not valid, which is to be ignored (3.2.2.5)
 */
export function traceParentOf(sent: string): TraceParent | undefined {
  const [, version, traceId, parentId, rest] = TRACE_PARENT.exec(sent) ?? []
  if (version === undefined || version === 'ff') return undefined
  // Later versions may have more fields.
  if (version === '00' && rest !== '') return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined
  return { traceId, parentId }
}

const TRACE_PARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}((?:-[\x20-\x7e]*)?)$/

/** Indexes that are no status of ours. */
const NO_ANSWER = 0
const OTHER_STATUS = 1

interface OperationSlots {
  /** By status; those that are no status of ours are holes. */
  readonly statusSlots: readonly number[]
  readonly answerSlot: number
}

function slotsOf(operation: string): OperationSlots {
  const slotOfStatus = (label: string) => slotOf('hickory_requests_total', operation, label)
  const statusSlots: number[] = []
  for (const label of statusLabels) statusSlots[Number(label)] = slotOfStatus(label)
  statusSlots[NO_ANSWER] = slotOfStatus(NO_STATUS)
  statusSlots[OTHER_STATUS] = slotOfStatus(OTHER)
  return { statusSlots, answerSlot: slotOf('hickory_answer_seconds', operation) }
}

const otherSlots = slotsOf(OTHER)
const slotsByOperation: ReadonlyMap<OperationName | undefined, OperationSlots> = new Map(
  operationNames.map((name) => [name, slotsOf(name)]),
)

function slotsByLabel<Label extends string>(
  labels: readonly Label[],
  slot: (label: Label) => number,
): Readonly<Record<Label, number>> {
  return Object.fromEntries(labels.map((label) => [label, slot(label)])) as Record<Label, number>
}

const codes = Object.keys(errorTables.serviceErrors) as ServiceErrorCode[]
const refusalSlots = slotsByLabel(codes, (code) => slotOf('hickory_refusals_total', code))
const cutSlots = slotsByLabel<CutReason>(cutReasons, (reason) =>
  slotOf('hickory_answers_cut_total', reason),
)
const stageSlots = slotsByLabel(stages, (stage) => slotOf('hickory_request_stage_seconds', stage))
const LEFT = slotOf('hickory_clients_left_total')
const BYTES_IN = slotOf('hickory_request_body_bytes_total')
const BYTES_OUT = slotOf('hickory_answer_body_bytes_total')
const ROWS = slotOf('hickory_recipient_rows_total')
const ANSWER_SECONDS = histogramOf('hickory_answer_seconds')
const STAGE_SECONDS = histogramOf('hickory_request_stage_seconds')
