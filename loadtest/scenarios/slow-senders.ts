/**
 * Do many clients that send a byte now and then keep the others waiting?
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import { figureOf } from '../harness/results.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { Tally } from '../traffic/tally.js'
import { traffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import type { SenderData } from './slow-sender-thread.js'
import { verifiedCounts } from './verified.js'

export const slowSenders: Scenario = {
  name: 'slow-senders',
  summary: 'do connections that send a byte a second keep the others waiting?',
  run,
}

/** Others take turns with and without the slow ones, so that what else the machine does is in both. */
const ROUND_COUNT = 3
const ROUND_SECONDS_MAX = 20
const PER_SECOND = 500
const NORMAL_CONNECTION_COUNT = 32
/** By so much the 99th percentile may rise. */
const RISE_MS_MAX = 2

async function run(stage: Stage): Promise<Finding> {
  const { slowSenderCount, measuredSeconds } = stage.options
  const seconds = Math.min(measuredSeconds, ROUND_SECONDS_MAX)
  const service = await stage.startService()
  const alone: Tally[] = []
  const beside: Tally[] = []
  const measure = async (tallies: Tally[], forSeconds: number) => {
    const tally = new Tally()
    tallies.push(tally)
    const requests = verifiedCounts(stage)
    const connectionCount = NORMAL_CONNECTION_COUNT
    const options = { url: service.url, requests, connectionCount, perSecond: PER_SECOND, tally }
    await traffic(options, forSeconds, stage.signal)
  }
  try {
    await measure([], stage.options.warmUpSeconds)
    for (let round = 0; round < ROUND_COUNT; round++) {
      await measure(alone, seconds)
      const senders = startSenders({ url: service.url, connectionCount: slowSenderCount })
      try {
        await measure(beside, seconds)
      } finally {
        await senders.terminate()
      }
    }
  } finally {
    await service.stop()
  }
  const [aloneMs, besideMs] = [medianP99(alone), medianP99(beside)]
  const riseMs = besideMs - aloneMs
  const faults = [...alone, ...beside].flatMap((tally) => tally.faults())
  if (riseMs > RISE_MS_MAX) {
    faults.push(`p99 of others rises by ${formatFigure(riseMs)} ms, more than ${RISE_MS_MAX}`)
  }
  return {
    table: {
      title:
        `${slowSenderCount} connections that send a byte a second, half of them in the head; ` +
        `beside ${PER_SECOND} counts/s, medians of ${ROUND_COUNT} rounds of ${seconds} s`,
      header: ['slow-senders', 'answered', 'p50 ms', 'p99 ms'],
      rows: [toRow('without', alone), toRow('with', beside)],
    },
    figures: { aloneP99Ms: aloneMs, besideP99Ms: besideMs, riseMs },
    faults,
  }
}

/** In a thread, so that they do not disturb the clock of the others. */
function startSenders(workerData: SenderData): Worker {
  return new Worker(new URL('./slow-sender-thread.js', import.meta.url), { workerData })
}

function toRow(name: string, tallies: readonly Tally[]): string[] {
  const answeredCount = tallies.reduce((sum, tally) => sum + tally.answeredCount, 0)
  const p50Ms = figureOf(tallies.map((tally) => tally.latencies().p50Ms)).median
  return [name, formatCount(answeredCount), formatFigure(p50Ms), formatFigure(medianP99(tallies))]
}

function medianP99(tallies: readonly Tally[]): number {
  return figureOf(tallies.map((tally) => tally.latencies().p99Ms)).median
}
