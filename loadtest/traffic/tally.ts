/**
 * What came of the requests of a run.
 *
 * @module
 */

import type { ReadAnswer } from '../../test/support/service/answer-reader.js'
import { createLatencies, type LatencyFigures } from '../generator/latencies.js'
import type { KnownRequest } from '../harness/answers.js'
import type { Outcome } from './connection.js'

/** Whether the body of a 200 is right. */
export type Compare = (request: KnownRequest, outcome: Answered) => boolean

type Answered = Extract<Outcome, { kind: 'answered' }>

export class Tally {
  successCount = 0
  /** 503 that say when to come back. */
  refusedCount = 0
  brokenCount = 0
  lateCount = 0
  /** 200 with another answer than the known one. */
  wrongCount = 0
  /** Any other status, and 503 without Retry-After. */
  otherCount = 0
  readonly #compare: Compare
  readonly #latencies = createLatencies()

  constructor(compare: Compare = equalsKnown) {
    this.#compare = compare
  }

  get answeredCount(): number {
    return this.successCount + this.wrongCount + this.refusedCount + this.otherCount
  }

  /** Of all requests, whatever came of them. */
  latencies(): LatencyFigures {
    return this.#latencies.figures()
  }

  record(request: KnownRequest, outcome: Outcome, ms: number): void {
    this.#latencies.record(ms)
    if (outcome.kind !== 'answered') this[`${outcome.kind}Count`]++
    else if (isRefusal(outcome.answer)) this.refusedCount++
    else if (outcome.answer.status !== 200) this.otherCount++
    else if (this.#compare(request, outcome)) this.successCount++
    else this.wrongCount++
  }

  /** Sentences about what should not have been; being refused is allowed. */
  faults(): string[] {
    if (this.successCount === 0) return ['no request was answered rightly']
    const told = {
      'answers that are wrong': this.wrongCount,
      'answers other than 200 and 503 with Retry-After': this.otherCount,
      'requests whose connection broke': this.brokenCount,
      'requests without an answer in time': this.lateCount,
    }
    const faults = Object.entries(told).filter(([, count]) => count > 0)
    return faults.map(([what, count]) => `${count} ${what}`)
  }
}

function isRefusal({ status, headers }: ReadAnswer): boolean {
  return status === 503 && headers['retry-after'] !== undefined
}

const equalsKnown: Compare = ({ answer }, outcome) => outcome.answer.body.equals(bytesOf(answer))

/** Compared as bytes: to make a text of every answer would be most of the work. */
function bytesOf(answer: string): Buffer {
  let bytes = known.get(answer)
  if (bytes === undefined) {
    bytes = Buffer.from(answer)
    known.set(answer, bytes)
  }
  return bytes
}

const known = new Map<string, Buffer>()
