/**
 * Does anybody notice that new recipients are imported and taken into service?
 *
 * @module
 */
import { formatCount, formatFigure } from '../harness/table.js'
import { Tally } from '../traffic/tally.js'
import { startTraffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import { serveTwoContents } from './two-contents.js'

export const swap: Scenario = {
  name: 'swap',
  summary: 'does anybody notice imports, and is each answer that of its snapshot?',
  run,
}

const CONNECTION_COUNT = 16
/** The first few swaps show how much one takes; beyond that nothing may be added. */
const SETTLED_SWAP_COUNT = 5
const GROWTH_BYTES_MAX = 64e6

async function run(stage: Stage): Promise<Finding> {
  const { swapCount } = stage.options
  const contents = await serveTwoContents(stage)
  const { service, requests, compare } = contents
  const tally = new Tally(compare)
  const connectionCount = CONNECTION_COUNT
  const running = startTraffic({ url: service.url, requests, connectionCount, tally })
  const residentBytes: number[] = []
  const servedMs: number[] = []
  const faults: string[] = []
  try {
    for (let count = 1; count <= swapCount; count++) {
      const tookMs = await contents.swap()
      if (tookMs === undefined) {
        faults.push(`snapshot ${count} is not served`)
        break
      }
      servedMs.push(tookMs)
      residentBytes.push(service.residentBytes() ?? 0)
    }
    await running.stop()
    const wrongCount = contents.judgeKept()
    if (wrongCount > 0) faults.push(`${wrongCount} more answers that are wrong`)
  } finally {
    await running.stop()
    await contents.end()
  }
  if (tally.refusedCount > 0) faults.push(`${tally.refusedCount} requests were refused`)
  const settledBytes = Math.max(...residentBytes.slice(0, SETTLED_SWAP_COUNT))
  const growthBytes = (residentBytes.at(-1) ?? 0) - settledBytes
  if (growthBytes > GROWTH_BYTES_MAX) {
    faults.push(
      `memory grew by ${formatCount(growthBytes / 1e6)} MB after ${SETTLED_SWAP_COUNT} swaps`,
    )
  }
  return {
    table: {
      title: `${swapCount} imports under ${CONNECTION_COUNT} connections; each answer that of its snapshot`,
      header: ['swap', 'swaps', 'right', 'served after s', 'p99 ms', 'resident MB, one after each'],
      rows: [
        [
          'service',
          formatCount(residentBytes.length),
          formatCount(tally.successCount),
          formatFigure(Math.max(0, ...servedMs) / 1000),
          formatFigure(tally.latencies().p99Ms),
          residentBytes.map((bytes) => formatCount(bytes / 1e6)).join(' '),
        ],
      ],
    },
    figures: {
      swapCount: residentBytes.length,
      servedMaxMs: Math.max(0, ...servedMs),
      growthBytes,
      p99Ms: tally.latencies().p99Ms,
    },
    faults: [...tally.faults(), ...faults],
  }
}
