/**
 * Does anybody notice that the service is told to stop?
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCount, formatFigure } from '../harness/table.js'
import { Tally } from '../traffic/tally.js'
import { startTraffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import { verifiedCounts } from './verified.js'

export const shutdown: Scenario = {
  name: 'shutdown',
  summary: 'does any client notice a SIGTERM while all connections are busy?',
  run,
}

const BEFORE_MS = 3_000

async function run(stage: Stage): Promise<Finding> {
  const { connectionCount } = stage.options
  const service = await stage.startService()
  const tally = new Tally()
  const running = startTraffic({
    url: service.url,
    requests: verifiedCounts(stage),
    connectionCount,
    tally,
    reconnects: false,
  })
  await sleep(BEFORE_MS, undefined, { signal: stage.signal })
  const before = tally.answeredCount
  const startedMs = performance.now()
  await service.stop()
  const exitSeconds = (performance.now() - startedMs) / 1000
  const exitCode = await service.ended
  await running.stop()
  const faults = tally.faults()
  if (tally.refusedCount > 0) faults.push(`${tally.refusedCount} requests were refused`)
  if (exitCode !== 0) faults.push(`the service ended with ${exitCode}`)
  const afterCount = tally.answeredCount - before
  return {
    table: {
      title: `SIGTERM under ${connectionCount} connections, each with one request under way`,
      header: ['shutdown', 'answered before', 'after', 'p99 ms', 'exit s', 'exit code', 'failed'],
      rows: [
        [
          'service',
          formatCount(before),
          formatCount(afterCount),
          formatFigure(tally.latencies().p99Ms),
          formatFigure(exitSeconds),
          String(exitCode),
          formatCount(tally.brokenCount + tally.lateCount + tally.otherCount + tally.wrongCount),
        ],
      ],
    },
    figures: { answeredBeforeCount: before, answeredAfterCount: afterCount, exitSeconds },
    faults,
  }
}
