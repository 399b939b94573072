/**
 * The facts about a finished request, in one place for logs, metrics and audits. None of them tells
 * the question or the answer: no paths, no members, no phones, no positions.
 *
 * @module
 */
// The global of this name is an accessor, whose call costs more than reading the clock.
import { performance } from 'node:perf_hooks'
import type { ServiceErrorCode } from '../errors.js'
import type { OperationName } from '../interface/operations.js'
import type { Log } from '../log.js'
import type { AuditedRequest } from './audited-request.js'
import type { TraceParent } from './trace-parent.js'

/** To be read during the call that it is handed to, and not to be kept. */
export interface RequestEnd {
  readonly requestId: string
  /** Undefined for other routes, and for requests that were refused before it was known. */
  readonly operation: OperationName | undefined
  readonly isBatch: boolean
  /** Whether the answer had no end of its own: its client watched, and may leave whenever it likes. */
  readonly isWatch: boolean
  /** Undefined where no answer was begun. */
  readonly status: number | undefined
  /** The code of the error that was answered; undefined where the answer was none. */
  readonly faultCode: ServiceErrorCode | undefined
  /** `left`: the client broke the connection off; `cut`: the service did. */
  readonly outcome: 'answered' | 'left' | 'cut'
  /** Why it was cut; undefined if it was not. */
  readonly cutReason: string | undefined
  /** Of the body of the request, as far as it was taken from the connection. */
  readonly bytesIn: number
  /** Of the body of the answer, as far as it was written; the HTTP library may still hold the end. */
  readonly bytesOut: number
  /** Recipients that were written into the answer. */
  readonly rowCount: number
  readonly stageMs: StageTimes
  /** When the request came, by the clock of `performance.now()`. */
  readonly startedMs: number
  /** Of the key that was sent; undefined where there is none. */
  readonly keyName: string | undefined
  /** The address of the client, where somebody asked for it in time; otherwise undefined. */
  readonly address: string | undefined
  readonly traceParent: TraceParent | undefined
  /** Whether it is one of those that an access log takes as a sample. */
  readonly isSampled: boolean
  /** Undefined where an audit says nothing of the request. */
  readonly audited: AuditedRequest | undefined
}

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

/** Tells how long the stages of one request take. */
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

/** Writes the line of a request, where the level of the log is `debug`. */
export function logRequestEnd(log: Log, end: RequestEnd): void {
  if (log.isLevelEnabled('debug')) log.debug(requestFields(end), 'a request is over')
}

/** What every log says of a request. */
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
