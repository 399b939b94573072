/**
 * Drives a server as hard as it answers: each connection sends its next request when the answer to
 * the last one is there (a closed loop), with autocannon.
 *
 * @module
 */
import { createHistogram, performance } from 'node:perf_hooks'
import autocannon from 'autocannon'
import type { KnownRequest } from './answers.js'

export interface Drive {
  readonly url: string
  /** Dealt out to the connections, each of which sends its own over and over. */
  readonly requests: readonly KnownRequest[]
  /** Counts answers that differ from the known one. */
  readonly compareAnswers: boolean
  readonly connectionCount: number
  readonly seconds: number
  readonly signal: AbortSignal
}

export interface DriveFigures {
  readonly answeredCount: number
  /** Of answers, over the whole run and in its slowest and fastest second. */
  readonly perSecond: number
  readonly perSecondMin: number
  readonly perSecondMax: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Status 2xx. */
  readonly successCount: number
  readonly failedCount: number
  /** Failures by kind; all of them 0 in a good run. */
  readonly errorCount: number
  readonly timeoutCount: number
  readonly non2xxCount: number
  readonly wrongCount: number
  /** Requests that got no answer although the run went on. */
  readonly lostCount: number
  /** Share of the time for which the generator was busy: near 1, it is the limit. */
  readonly generatorBusyShare: number
}

export async function drive(options: Drive): Promise<DriveFigures> {
  const { url, connectionCount, seconds, signal } = options
  signal.throwIfAborted()
  const micros = createHistogram()
  const deck = dealOut(options)
  const idleBefore = performance.eventLoopUtilization()
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url,
        connections: connectionCount,
        pipelining: 1,
        duration: seconds,
        timeout: TIMEOUT_SECONDS,
        setupClient: (client) => client.setRequests(deck.next()),
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    )
    instance.on('response', (_client, _status, _bytes, responseMs) => {
      micros.record(Math.max(1, Math.round(1000 * responseMs)))
    })
    signal.addEventListener('abort', () => instance.stop(), { once: true })
  })
  signal.throwIfAborted()
  const generatorBusyShare = performance.eventLoopUtilization(idleBefore).utilization
  return figuresOf(result, micros, deck.wrongCount, generatorBusyShare)
}

const TIMEOUT_SECONDS = 10

/** Requests of each connection in turn, and how many answers were not the known one. */
function dealOut({ requests, compareAnswers, connectionCount }: Drive) {
  let connection = 0
  const deck = {
    wrongCount: 0,
    next(): autocannon.Request[] {
      const first = connection++ % connectionCount
      const own = requests.filter((_, at) => at % connectionCount === first % requests.length)
      return own.map(({ body, answer }) => ({
        method: 'POST',
        path: '/api/recipients',
        headers: { 'content-type': 'application/json' },
        body,
        onResponse: (status, text) => {
          if (compareAnswers && status === 200 && text !== answer) deck.wrongCount++
        },
      }))
    },
  }
  return deck
}

function figuresOf(
  result: autocannon.Result,
  micros: ReturnType<typeof createHistogram>,
  wrongCount: number,
  generatorBusyShare: number,
): DriveFigures {
  const { requests, connections, errors, timeouts, non2xx } = result
  // One request of each connection is under way when the run ends.
  const lostCount = Math.max(0, requests.sent - requests.total - connections)
  return {
    answeredCount: requests.total,
    perSecond: requests.total / result.duration,
    perSecondMin: requests.min,
    perSecondMax: requests.max,
    p50Ms: micros.percentile(50) / 1000,
    p99Ms: micros.percentile(99) / 1000,
    maxMs: micros.max / 1000,
    successCount: result['2xx'],
    failedCount: errors + non2xx + wrongCount + lostCount,
    errorCount: errors,
    timeoutCount: timeouts,
    non2xxCount: non2xx,
    wrongCount,
    lostCount,
    generatorBusyShare,
  }
}
