/**
 * What became of the requests of one drive.
 *
 * @module
 */
import { createLatencies, type LatencyFigures } from './latencies.js'

export interface TallyFigures extends LatencyFigures {
  readonly answeredCount: number
  /** Of answers before the end: over the whole time, and in its slowest and fastest second. */
  readonly perSecond: number
  readonly perSecondMin: number
  readonly perSecondMax: number
  /** Status 2xx, and not known to be wrong. Latencies are of these. */
  readonly successCount: number
  /** Of those before the end. */
  readonly successPerSecond: number
  /** All that did not go well: not 2xx, wrong, or lost. */
  readonly failedCount: number
  /** Refusals among them. */
  readonly non2xxCount: number
  /** Status 503 with Retry-After. */
  readonly refusedCount: number
  readonly refusedP99Ms: number
  readonly wrongCount: number
  /** Requests without an answer, for whatever reason. */
  readonly lostCount: number
  /** Of these, those whose time was over; the connection of the others ended. */
  readonly timeoutCount: number
  /** Failures of connections, whether or not a request was under way. */
  readonly errorCount: number
}

export type Outcome = 'right' | 'wrong' | 'refused' | 'failed'

export interface Tally {
  /** @param secondsIn  since the first request could be sent */
  answered(outcome: Outcome, latencyMs: number, secondsIn: number): void
  lost(): void
  /** What was lost just now was lost because its time was over. */
  timedOut(): void
  connectionFailed(): void
  figures(): TallyFigures
}

/** @param seconds  after which an answer is late; it counts, but for no rate */
export function createTally(seconds: number): Tally {
  const latencies = createLatencies()
  const refusals = createLatencies()
  const outcomes = { right: 0, wrong: 0, refused: 0, failed: 0 }
  const bySecond: number[] = []
  let punctualCount = 0
  let punctualSuccessCount = 0
  let lostCount = 0
  let timeoutCount = 0
  let errorCount = 0
  return {
    answered(outcome, latencyMs, secondsIn) {
      outcomes[outcome]++
      if (outcome === 'right') latencies.record(latencyMs)
      if (outcome === 'refused') refusals.record(latencyMs)
      if (secondsIn >= seconds) return
      punctualCount++
      if (outcome === 'right') punctualSuccessCount++
      const second = Math.floor(secondsIn)
      bySecond[second] = (bySecond[second] ?? 0) + 1
    },
    lost: () => void lostCount++,
    timedOut: () => void timeoutCount++,
    connectionFailed: () => void errorCount++,
    figures() {
      const { right, wrong, refused, failed } = outcomes
      const wholeSeconds = Array.from({ length: Math.floor(seconds) }, (_, at) => bySecond[at] ?? 0)
      return {
        answeredCount: right + wrong + refused + failed,
        perSecond: punctualCount / seconds,
        perSecondMin: Math.min(...wholeSeconds),
        perSecondMax: Math.max(...wholeSeconds),
        ...latencies.figures(),
        successCount: right,
        successPerSecond: punctualSuccessCount / seconds,
        failedCount: wrong + refused + failed + lostCount,
        non2xxCount: refused + failed,
        refusedCount: refused,
        refusedP99Ms: refusals.figures().p99Ms,
        wrongCount: wrong,
        lostCount,
        timeoutCount,
        errorCount,
      }
    },
  }
}
