/**
 * Times of answers, to three digits, and what is said of them.
 *
 * @module
 */
import { createHistogram } from 'node:perf_hooks'

export interface LatencyFigures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

export interface Latencies {
  record(latencyMs: number): void
  figures(): LatencyFigures
}

export function createLatencies(): Latencies {
  const micros = createHistogram()
  const percentile = (percent: number) => (micros.count === 0 ? 0 : micros.percentile(percent))
  return {
    record: (latencyMs) => micros.record(Math.max(1, Math.round(1000 * latencyMs))),
    figures: () => ({
      p50Ms: percentile(50) / 1000,
      p99Ms: percentile(99) / 1000,
      p999Ms: percentile(99.9) / 1000,
      maxMs: micros.count === 0 ? 0 : micros.max / 1000,
    }),
  }
}
