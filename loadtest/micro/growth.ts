/**
 * How do time and memory grow with the number of recipients? The same drawn polygons at each
 * number, each number in a process of its own, one after the other.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { availableMemory } from '../harness/machine.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding } from './harness/compare.js'
import type { Timing } from './harness/measure.js'

/** What growth-child.ts prints. */
export interface GrowthPoint {
  readonly recipientCount: number
  readonly shapeCount: number
  readonly hitCount: number
  readonly counting: Timing
  readonly selecting: Timing
  readonly indexBytes: number
  readonly columnBytes: number
  readonly textBytes: number
  /** What the process holds more than before it had the shards. */
  readonly residentBytes: number
}

/** Columns, the order of their rows and the shards, twice until they are in arenas. */
const BUILD_BYTES_PER_RECIPIENT = 110
const GiB = 2 ** 30

/** @throws when the largest number does not fit into memory */
export async function measureGrowth(counts: readonly number[], seed: number): Promise<Finding> {
  const sorted = counts.toSorted((a, b) => a - b)
  const [smallest] = sorted
  const wantedBytes = sorted[sorted.length - 1] * BUILD_BYTES_PER_RECIPIENT + GiB
  const availableBytes = availableMemory()
  if (wantedBytes > availableBytes) {
    throw new Error(
      `${formatCount(sorted[sorted.length - 1])} recipients take about ` +
        `${formatFigure(wantedBytes / GiB)} GiB to build, ` +
        `and ${formatFigure(availableBytes / GiB)} GiB are available`,
    )
  }
  const points: GrowthPoint[] = []
  for (const count of sorted) points.push(await runChild([count, seed, smallest]))
  return {
    table: {
      title: `growth: the same ${formatCount(points[0].shapeCount)} drawn polygons`,
      header: [
        'recipients',
        'hits a shape',
        'count µs, min',
        'median',
        'p10',
        'p90',
        'select µs',
        'index B',
        'columns B',
        'text B',
        'resident B',
      ],
      rows: points.map(toRow),
    },
    ways: points.map(({ recipientCount, shapeCount, counting }) => ({
      name: `countInside, ${recipientCount} recipients`,
      itemCount: shapeCount,
      timing: counting,
    })),
    notes: [
      'bytes are for each recipient',
      ...points.slice(1).map((to, i) => verdict(points[i], to)),
    ],
  }
}

function toRow(point: GrowthPoint): string[] {
  const { recipientCount, shapeCount, counting, selecting } = point
  const micros = (passMs: number) => formatFigure((1000 * passMs) / shapeCount)
  const each = (bytes: number) => (bytes / recipientCount).toFixed(1)
  return [
    formatCount(recipientCount),
    formatCount(point.hitCount / shapeCount),
    ...[counting.minMs, counting.medianMs, counting.p10Ms, counting.p90Ms].map(micros),
    micros(selecting.medianMs),
    ...[point.indexBytes, point.columnBytes, point.textBytes, point.residentBytes].map(each),
  ]
}

/**
 * By the fastest passes: the numbers are measured minutes apart, and what else ran on the machine
 * meanwhile is not growth.
 */
function verdict(from: GrowthPoint, to: GrowthPoint): string {
  const recipients = to.recipientCount / from.recipientCount
  const time = to.counting.minMs / from.counting.minMs
  const exponent = Math.log(time) / Math.log(recipients)
  return (
    `${formatCount(from.recipientCount)} to ${formatCount(to.recipientCount)}: ` +
    `${formatFigure(recipients)} times the recipients take ${formatFigure(time)} times as long, ` +
    `recipients to the power of ${exponent.toFixed(2)}: ` +
    `${exponent <= 0.5 ? 'no faster' : 'FASTER'} than the square root`
  )
}

async function runChild(args: readonly number[]): Promise<GrowthPoint> {
  const script = fileURLToPath(new URL('harness/growth-child.js', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Makes glibc give back large buffers when they are freed, rather than keep them for later.
    env: { ...process.env, MALLOC_MMAP_THRESHOLD_: '1048576' },
  })
  const [output, [code, killer]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process for ${args[0]} ended with ${code ?? killer}`)
  return JSON.parse(output) as GrowthPoint
}
