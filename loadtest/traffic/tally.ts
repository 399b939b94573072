/**
 * What came of the requests of a run.
 *
 * @module
 */
import type { KnownRequest } from '../answers.js'
import { createLatencies, type LatencyFigures } from '../generator/latencies.js'
import type { Outcome } from './connection.js'

export interface Tally {
  readonly answeredCount: number
  readonly successCount: number
  /** 503 that say when to come back. */
  readonly refusedCount: number
  readonly brokenCount: number
  readonly lateCount: number
  /** 200 with another answer than the known one. */
  readonly wrongCount: number
  /** Any other status, and 503 without Retry-After. */
  readonly otherCount: number
  /** Of all requests, whatever came of them. */
  latencies(): LatencyFigures
  /** Sentences about what should not have been; being refused is allowed. */
  faults(): string[]
  record(request: KnownRequest, outcome: Outcome, ms: number): void
}

/** Whether the body of a 200 is right. */
export type Compare = (request: KnownRequest, outcome: Outcome & { kind: 'answered' }) => boolean

export function createTally(compare: Compare = equalsKnown): Tally {
  const latencies = createLatencies()
  const counts = { success: 0, refused: 0, broken: 0, late: 0, wrong: 0, other: 0 }
  const record = (request: KnownRequest, outcome: Outcome, ms: number) => {
    latencies.record(ms)
    if (outcome.kind !== 'answered') counts[outcome.kind]++
    else if (outcome.answer.status === 503 && outcome.answer.headers['retry-after'])
      counts.refused++
    else if (outcome.answer.status !== 200) counts.other++
    else if (compare(request, outcome)) counts.success++
    else counts.wrong++
  }
  return {
    get answeredCount() {
      return counts.success + counts.wrong + counts.refused + counts.other
    },
    get successCount() {
      return counts.success
    },
    get refusedCount() {
      return counts.refused
    },
    get brokenCount() {
      return counts.broken
    },
    get lateCount() {
      return counts.late
    },
    get wrongCount() {
      return counts.wrong
    },
    get otherCount() {
      return counts.other
    },
    latencies: latencies.figures,
    record,
    faults() {
      const told = {
        'answers that are wrong': counts.wrong,
        'answers other than 200 and 503 with Retry-After': counts.other,
        'requests whose connection broke': counts.broken,
        'requests without an answer in time': counts.late,
      }
      const faults = Object.entries(told).filter(([, count]) => count > 0)
      if (counts.success === 0) return ['no request was answered rightly']
      return faults.map(([what, count]) => `${count} ${what}`)
    },
  }
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
