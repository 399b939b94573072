/**
 * Is every answer right, or a refusal, while query workers die all the time?
 *
 * @module
 */
import { formatCount, formatFigure } from '../harness/table.js'
import { Tally } from '../traffic/tally.js'
import { traffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import { verifiedMix } from './verified.js'

export const workerKills: Scenario = {
  name: 'worker-kills',
  summary: 'is every answer right while a query worker dies every half second?',
  run,
}

const KILL_MS = 500

async function run(stage: Stage): Promise<Finding> {
  const { connectionCount, killSeconds } = stage.options
  const service = await stage.startService(['--crash-query-worker-ms', String(KILL_MS)])
  const tally = new Tally()
  const requests = verifiedMix(stage)
  const options = { url: service.url, requests, connectionCount, tally }
  try {
    await Promise.race([traffic(options, killSeconds, stage.signal), service.failure])
  } finally {
    await service.stop()
  }
  const refusedShare = tally.refusedCount / Math.max(1, tally.answeredCount)
  return {
    table: {
      title:
        `a query worker killed every ${KILL_MS} ms for ${killSeconds} s; every 200 compared with ` +
        'an answer that equals brute force',
      header: [
        'worker-kills',
        'right',
        'wrong',
        '503',
        'other',
        'broken',
        'late',
        'p50 ms',
        'p99 ms',
      ],
      rows: [
        [
          'service',
          formatCount(tally.successCount),
          formatCount(tally.wrongCount),
          formatCount(tally.refusedCount),
          formatCount(tally.otherCount),
          formatCount(tally.brokenCount),
          formatCount(tally.lateCount),
          formatFigure(tally.latencies().p50Ms),
          formatFigure(tally.latencies().p99Ms),
        ],
      ],
    },
    figures: {
      rightCount: tally.successCount,
      refusedCount: tally.refusedCount,
      refusedShare,
      p99Ms: tally.latencies().p99Ms,
    },
    faults: tally.faults(),
  }
}
