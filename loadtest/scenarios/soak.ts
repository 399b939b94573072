/**
 * Does anything pile up in a service that is well used, swapped and shot at for a while?
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openDescriptorCount } from '../harness/process-figures.js'
import type { ServerProcess } from '../harness/processes.js'
import { slopeOf } from '../harness/slope.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { Tally } from '../traffic/tally.js'
import { startTraffic, traffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import { serveTwoContents, type TwoContents } from './two-contents.js'

export const soak: Scenario = {
  name: 'soak',
  summary: 'does anything pile up at 70 % of full load, with kills and swaps?',
  run,
}

const CONNECTION_COUNT = 32
const PEAK_SECONDS = 5
const LOAD_SHARE = 0.7
const KILL_MS = 5_000
const SWAP_MS = 30_000
const SAMPLE_MS = 1_000
/** Before that, memory finds its size. */
const SETTLED_SHARE = 0.4
const GROWTH_BYTES_MAX = 64e6
/** More may be open for a moment, while a worker is replaced or a snapshot loaded. */
const DESCRIPTOR_SPARE_COUNT = 64

interface Sample {
  readonly hours: number
  readonly residentBytes: number
  readonly descriptorCount: number
}

async function run(stage: Stage): Promise<Finding> {
  const contents = await serveTwoContents(stage, ['--crash-query-worker-ms', String(KILL_MS)])
  try {
    return await soakFor(60 * stage.options.soakMinutes, stage, contents)
  } finally {
    await contents.end()
  }
}

async function soakFor(seconds: number, stage: Stage, contents: TwoContents): Promise<Finding> {
  const { service, requests, compare } = contents
  const load = { url: service.url, requests, connectionCount: CONNECTION_COUNT }
  const peak = new Tally(compare)
  await traffic({ ...load, tally: peak }, PEAK_SECONDS, stage.signal)
  const perSecond = Math.max(1, (LOAD_SHARE * peak.answeredCount) / PEAK_SECONDS)
  const tally = new Tally(compare)
  const running = startTraffic({ ...load, perSecond, tally })
  const sampling = startSampling(service)
  const endMs = performance.now() + 1000 * seconds
  const faults: string[] = []
  let swapCount = 0
  try {
    while (performance.now() < endMs) {
      const waitMs = Math.min(SWAP_MS, endMs - performance.now())
      await Promise.race([sleep(waitMs, undefined, { signal: stage.signal }), service.failure])
      if (performance.now() >= endMs) break
      if ((await contents.swap()) !== undefined) swapCount++
      else faults.push('a new snapshot is not served')
      const wrongCount = contents.judgeKept()
      if (wrongCount > 0) faults.push(`${wrongCount} more answers that are wrong`)
    }
  } finally {
    sampling.stop()
    await running.stop()
  }
  return toFinding(seconds, { perSecond, swapCount, samples: sampling.samples }, tally, faults)
}

function startSampling(service: ServerProcess) {
  const samples: Sample[] = []
  const startedMs = performance.now()
  const timer = setInterval(() => {
    const hours = (performance.now() - startedMs) / 3_600_000
    const descriptorCount = openDescriptorCount(service.pid)
    samples.push({ hours, residentBytes: service.residentBytes() ?? 0, descriptorCount })
  }, SAMPLE_MS)
  return { samples, stop: () => clearInterval(timer) }
}

function toFinding(
  seconds: number,
  soaked: { perSecond: number; swapCount: number; samples: readonly Sample[] },
  tally: Tally,
  faults: readonly string[],
): Finding {
  const { perSecond, swapCount, samples } = soaked
  const settled = samples.slice(Math.floor(SETTLED_SHARE * samples.length))
  const half = Math.ceil(settled.length / 2)
  const mostBytes = (some: readonly Sample[]) =>
    Math.max(...some.map((sample) => sample.residentBytes))
  const growthBytes = mostBytes(settled.slice(half)) - mostBytes(settled.slice(0, half))
  const slope = slopeOf(settled.map(({ hours, residentBytes }) => [hours, residentBytes]))
  const counts = samples.map(({ descriptorCount }) => descriptorCount)
  const grown = [
    ...(growthBytes > GROWTH_BYTES_MAX
      ? [`memory grew by ${formatCount(growthBytes / 1e6)} MB from one half to the other`]
      : []),
    ...(counts[counts.length - 1] - counts[0] > DESCRIPTOR_SPARE_COUNT
      ? [`open descriptors grew from ${counts[0]} to ${counts[counts.length - 1]}`]
      : []),
  ]
  return {
    table: {
      title:
        `${formatFigure(seconds / 60)} minutes at ${formatCount(perSecond)} requests/s, a worker ` +
        `killed every ${KILL_MS / 1000} s, ${swapCount} swaps`,
      header: ['soak', 'right', '503', 'wrong', 'p99 ms', 'most MB', 'MB/h', 'descriptors'],
      rows: [
        [
          'service',
          formatCount(tally.successCount),
          formatCount(tally.refusedCount),
          formatCount(tally.wrongCount),
          formatFigure(tally.latencies().p99Ms),
          formatCount(mostBytes(samples) / 1e6),
          formatCount(slope / 1e6),
          `${Math.min(...counts)} to ${Math.max(...counts)}`,
        ],
      ],
    },
    figures: {
      perSecond,
      swapCount,
      refusedCount: tally.refusedCount,
      p99Ms: tally.latencies().p99Ms,
      growthBytes,
      slopeBytesPerHour: slope,
    },
    faults: [...tally.faults(), ...grown, ...faults],
  }
}
