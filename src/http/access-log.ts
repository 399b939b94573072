/**
 * Which requests have a line in the access log, and what it says.
 *
 * @module
 */
// The global of this name is an accessor, whose call costs more than reading the clock.
import { performance } from 'node:perf_hooks'
import { operations } from '../interface/operations.js'
import type { Log } from '../log.js'
import { type RequestEnd, requestFields } from './observe.js'

export interface AccessLogRules {
  /** The sample rate for ordinary requests: 1 in N. */
  readonly sample: number
  /** A request that takes longer has a line. */
  readonly slowMs: number
}

/** Why a request has a line. */
type Rule = 'error' | 'change' | 'list' | 'slow' | 'watch' | 'sample'

/** A request whose answer begins. */
interface BeginningAnswer {
  readonly operation: RequestEnd['operation']
  readonly startedMs: number
  readonly peerAddress: string
  address: string | undefined
  isSampled: boolean
}

export class AccessLog {
  readonly #log: Log
  readonly #rules: AccessLogRules
  #leftCount = 0

  /** @param log  that writes lines without waiting */
  constructor(log: Log, rules: AccessLogRules) {
    this.#log = log
    this.#rules = rules
  }

  /**
   * To be called when an answer begins. Asking for an address costs as much as a twentieth of a count, and
   * it is unknown when the answer is over. So it is asked for where a line is likely.
   */
  begins(answer: BeginningAnswer, status: number, isStream: boolean): void {
    if (this.#leftCount === 0) this.#leftCount = this.#rules.sample
    answer.isSampled = --this.#leftCount === 0
    const isLikely =
      answer.isSampled ||
      isStream ||
      status >= 400 ||
      isChange(answer) ||
      performance.now() - answer.startedMs >= this.#rules.slowMs
    if (isLikely) answer.address = answer.peerAddress
  }

  /** To be called once for each request, when it is over. */
  over(end: RequestEnd): void {
    const rule = this.#ruleFor(end)
    if (rule === undefined) return
    const { keyName, address, traceParent, rowCount, faultCode } = end
    const fields = {
      ...requestFields(end),
      errorCode: faultCode,
      rowCount: rowCount > 0 ? rowCount : undefined,
      cutReason: end.cutReason,
      keyName,
      address,
      traceId: traceParent?.traceId,
      parentId: traceParent?.parentId,
      rule,
      sample: rule === 'sample' ? this.#rules.sample : undefined,
    }
    if (end.outcome === 'cut' || (end.status ?? 0) >= 500) this.#log.warn(fields, 'request')
    else this.#log.info(fields, 'request')
  }

  #ruleFor(end: RequestEnd): Rule | undefined {
    const { status, outcome, rowCount, startedMs, isWatch } = end
    if (isWatch && outcome !== 'cut' && status !== undefined && status < 400) return 'watch'
    if (outcome !== 'answered' || status === undefined || status >= 400) return 'error'
    if (isChange(end)) return 'change'
    if (rowCount > 0) return 'list'
    if (performance.now() - startedMs >= this.#rules.slowMs) return 'slow'
    return end.isSampled ? 'sample' : undefined
  }
}

function isChange({ operation }: Pick<RequestEnd, 'operation'>): boolean {
  return operation !== undefined && operations[operation].isWrite
}
