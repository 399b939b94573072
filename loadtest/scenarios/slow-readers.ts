/**
 * Does a service that lists everybody to clients who hardly read stay small, and rid of them?
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.js'
import { heldConnectionCount } from '../harness/process-figures.js'
import type { ServerProcess } from '../harness/processes.js'
import { watchResident } from '../harness/resident.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { requestText } from '../requests/requests.js'
import { Tally } from '../traffic/tally.js'
import { startTraffic } from '../traffic/traffic.js'
import type { Finding, Scenario, Stage } from './scenario.js'
import { verifiedCounts } from './verified.js'

export const slowReaders: Scenario = {
  name: 'slow-readers',
  summary: 'do readers of a list of everybody, at 4 KB/s each, take memory or stay?',
  run,
}

const READ_BYTES = 4_096
const READ_MS = 1_000
const NORMAL_CONNECTION_COUNT = 8
const NORMAL_PER_SECOND = 100
const GROWTH_BYTES_MAX = 64e6
/** Beyond the time that the service has for cutting them off: for beginning to answer them all. */
const CUT_OFF_SPARE_MS = 30_000

async function run(stage: Stage): Promise<Finding> {
  const service = await stage.startService()
  const tally = new Tally()
  const running = startTraffic({
    url: service.url,
    requests: verifiedCounts(stage),
    connectionCount: NORMAL_CONNECTION_COUNT,
    perSecond: NORMAL_PER_SECOND,
    tally,
  })
  const readers: SlowReader[] = []
  try {
    await sleep(1000 * stage.options.warmUpSeconds, undefined, { signal: stage.signal })
    const { result: cutOffMs, resident } = await watchResident(service, () => {
      for (let at = 0; at < stage.options.slowReaderCount; at++) readers.push(read(service.url))
      return untilCutOff(service, readers, stage.signal)
    })
    await running.stop()
    const growthBytes = resident.peakBytes - resident.beforeBytes
    return toFinding(stage, { readers, growthBytes, cutOffMs }, tally)
  } finally {
    for (const reader of readers) reader.close()
    await running.stop()
    await service.stop()
  }
}

interface SlowReader {
  readonly isAnswered: () => boolean
  readonly isRefused: () => boolean
  readonly readBytes: () => number
  close(): void
}

/** Everybody: recipients of a load test are all between these. */
const everybody = JSON.stringify({
  geoJSON: {
    type: 'Polygon',
    coordinates: [
      [
        [-179, 10],
        [-50, 10],
        [-50, 75],
        [-179, 75],
        [-179, 10],
      ],
    ],
  },
})

function read(url: string): SlowReader {
  const { hostname, port } = new URL(url)
  let readBytes = 0
  let isRefused = false
  // Into a small buffer, and no more before the timer says so.
  const onread = {
    buffer: Buffer.alloc(READ_BYTES),
    callback: (count: number, buffer: Uint8Array) => {
      if (readBytes === 0)
        isRefused = !Buffer.from(buffer).toString('latin1', 0, 16).includes(' 200 ')
      readBytes += count
      return false
    },
  }
  const socket: Socket = connect({ host: hostname, port: Number(port), onread })
  socket.on('error', () => {})
  socket.write(requestText(everybody))
  const timer = setInterval(() => socket.resume(), READ_MS)
  const close = () => {
    clearInterval(timer)
    socket.destroy()
  }
  return {
    isAnswered: () => readBytes > 0,
    isRefused: () => isRefused,
    readBytes: () => readBytes,
    close,
  }
}

/**
 * The readers cannot tell: what the system has of the answer, they could read for minutes.
 *
 * @returns the time until none of them is connected any more; undefined when some still are
 */
async function untilCutOff(
  service: ServerProcess,
  readers: readonly SlowReader[],
  signal: AbortSignal,
): Promise<number | undefined> {
  const startedMs = performance.now()
  const elapsedMs = () => performance.now() - startedMs
  while (!readers.every((reader) => reader.isAnswered()) && elapsedMs() < CUT_OFF_SPARE_MS) {
    await sleep(100, undefined, { signal })
  }
  const deadlineMs = limits.clientStallMs + CUT_OFF_SPARE_MS
  while (elapsedMs() < deadlineMs) {
    if (heldConnectionCount(service.url) <= NORMAL_CONNECTION_COUNT) return elapsedMs()
    await Promise.race([sleep(250, undefined, { signal }), service.failure])
  }
  return undefined
}

function toFinding(
  { options: { slowReaderCount }, rows }: Stage,
  seen: { readers: readonly SlowReader[]; growthBytes: number; cutOffMs: number | undefined },
  tally: Tally,
): Finding {
  const { readers, growthBytes, cutOffMs } = seen
  const unansweredCount = readers.filter((reader) => !reader.isAnswered()).length
  const refusedCount = readers.filter((reader) => reader.isRefused()).length
  const perReaderBytes = readers.reduce((sum, each) => sum + each.readBytes(), 0) / readers.length
  const faults = tally.faults()
  if (unansweredCount > 0) faults.push(`${unansweredCount} readers got nothing at all`)
  if (cutOffMs === undefined) faults.push('readers are still connected long after the deadline')
  if (growthBytes > GROWTH_BYTES_MAX) {
    faults.push(`memory grew by ${formatCount(growthBytes / 1e6)} MB`)
  }
  return {
    table: {
      title:
        `${slowReaderCount} readers of ${READ_BYTES} bytes a second, each of a list of ` +
        `${formatCount(rows.phones.length)}; beside ${NORMAL_PER_SECOND} counts/s`,
      header: [
        'slow-readers',
        'refused',
        'grew by MB',
        'all cut off s',
        'read KB each',
        'others answered',
        'p99 ms',
      ],
      rows: [
        [
          'service',
          formatCount(refusedCount),
          formatFigure(growthBytes / 1e6),
          cutOffMs === undefined ? 'never' : formatFigure(cutOffMs / 1000),
          formatFigure(perReaderBytes / 1e3),
          formatCount(tally.successCount),
          formatFigure(tally.latencies().p99Ms),
        ],
      ],
    },
    figures: {
      refusedCount,
      growthBytes,
      othersP99Ms: tally.latencies().p99Ms,
      ...(cutOffMs === undefined ? {} : { cutOffSeconds: cutOffMs / 1000 }),
    },
    faults,
  }
}
