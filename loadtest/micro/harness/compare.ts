/**
 * Asks several ways the same shapes: first whether they agree, then how long they take.
 *
 * @module
 */
import { formatCount, formatFigure, type Table } from '../../harness/table.js'
import {
  baselinePlan,
  fullPlan,
  type MeasurePlan,
  measure,
  measureRemote,
  type Timing,
} from './measure.js'
import type { Way } from './ways.js'

export interface Comparison {
  readonly title: string
  readonly shapeCount: number
  /** How many of the shapes are timed beside the slower ways, spread over all of them. */
  readonly baselineShapeCount: number
  /** The first is the one that all others are compared with. */
  readonly engine: readonly Way[]
  readonly baselines: readonly Way[]
  /** Metres by which a recipient may be nearer to the limit than doubles can tell; 0 for polygons. */
  readonly toleranceMetres: number
  /** Says more about the shapes, behind the title. */
  readonly describe: string
}

export interface MeasuredWay {
  readonly name: string
  /** Shapes, or rows, in a pass. */
  readonly itemCount: number
  /** Of a whole pass. */
  readonly timing: Timing
  /** That a shape leaves behind; where this is measured. */
  readonly garbageBytes?: number
}

export interface Finding {
  readonly table: Table
  readonly ways: readonly MeasuredWay[]
  /** What PostGIS counts differently, which is its right. */
  readonly notes: readonly string[]
}

/** @throws when two ways of this process count differently */
export async function compare(comparison: Comparison): Promise<Finding> {
  const { engine, baselines, shapeCount, baselineShapeCount } = comparison
  const { hits, notes } = await agreedHits(comparison)
  const all = spread(shapeCount, shapeCount)
  const some = spread(shapeCount, baselineShapeCount)
  const timed: TimedWay[] = []
  const time = async (way: Way, shapes: readonly number[], plan: MeasurePlan) =>
    timed.push({ way, itemCount: shapes.length, timing: await timeWay(way, shapes, plan) })
  for (const way of engine) await time(way, all, fullPlan)
  if (baselines.length > 0) {
    for (const way of some.length < all.length ? engine : []) await time(way, some, fullPlan)
    for (const way of baselines) await time(way, some, baselinePlan)
  }
  return {
    table: toTable(comparison, hits, timed),
    ways: timed.map(({ way, itemCount, timing }) => ({ name: way.name, itemCount, timing })),
    notes,
  }
}

interface TimedWay extends Omit<MeasuredWay, 'name'> {
  readonly way: Way
}

/** `count` of the shapes [0, shapeCount), evenly spread. */
function spread(shapeCount: number, count: number): number[] {
  const kept = Math.min(shapeCount, count)
  return Array.from({ length: kept }, (_, i) => Math.floor((i * shapeCount) / kept))
}

/** Every way counts every shape, which also gets each compiled for what it will meet. */
async function agreedHits(comparison: Comparison) {
  const { title, shapeCount, engine, baselines } = comparison
  const [reference, ...others] = [...engine, ...baselines]
  const hits: number[] = []
  const remoteDifferences: number[] = []
  for (let at = 0; at < shapeCount; at++) {
    const count = await reference.count(at, 0)
    hits.push(count)
    for (const way of others) {
      const [least, most] = await acceptedCounts(way, at, comparison)
      if (count >= least && count <= most) continue
      if (!way.isRemote) {
        const found = least === most ? least : `${least} to ${most}`
        throw new Error(
          `${title}, shape ${at}: ${reference.name} finds ${count}, ${way.name} ${found}`,
        )
      }
      remoteDifferences.push(Math.max(least - count, count - most))
    }
  }
  const recipientCount = remoteDifferences.reduce((sum, difference) => sum + difference, 0)
  const notes =
    remoteDifferences.length === 0
      ? []
      : [
          `PostGIS counts ${remoteDifferences.length} of ${shapeCount} shapes differently, by ` +
            `${recipientCount} recipients in all: see \`npm run compare:postgis\``,
        ]
  return { hits, notes }
}

async function acceptedCounts(
  way: Way,
  at: number,
  { engine, toleranceMetres }: Comparison,
): Promise<[least: number, most: number]> {
  if (toleranceMetres === 0 || engine.includes(way)) {
    const count = await way.count(at, 0)
    return [count, count]
  }
  return [await way.count(at, -toleranceMetres), await way.count(at, toleranceMetres)]
}

async function timeWay(way: Way, shapes: readonly number[], plan: MeasurePlan): Promise<Timing> {
  if (way.isRemote) {
    return measureRemote(async () => {
      let sum = 0
      for (const at of shapes) sum += await way.count(at, 0)
      return sum
    }, plan)
  }
  return measure(() => {
    let sum = 0
    for (const at of shapes) sum += way.count(at, 0) as number
    return sum
  }, plan)
}

function toTable(
  { title, describe, baselines }: Comparison,
  hits: readonly number[],
  timed: readonly TimedWay[],
): Table {
  const peers = baselines.map((way) => timed.find((candidate) => candidate.way === way))
  const ratio = (peer: TimedWay | undefined, { itemCount, timing }: TimedWay) =>
    peer === undefined || peer.itemCount !== itemCount
      ? ''
      : `${formatFigure(peer.timing.medianMs / timing.medianMs)}×`
  const hitCount = hits.reduce((sum, count) => sum + count, 0)
  const median = hits.toSorted((a, b) => a - b)[hits.length >> 1]
  return {
    title:
      `${title}: ${formatCount(hits.length)} shapes, all counts agree; on average ${describe}, ` +
      `${formatCount(hitCount / hits.length)} hits (median ${formatCount(median)})`,
    header: [
      'µs a shape',
      'shapes',
      'min',
      'median',
      'p10',
      'p90',
      'passes',
      'shapes/s',
      ...baselines.map(({ ratioTitle }) => `to ${ratioTitle}`),
    ],
    rows: timed.map((measured) => [
      measured.way.name,
      formatCount(measured.itemCount),
      ...figures(measured),
      ...peers.map((peer) => ratio(peer, measured)),
    ]),
  }
}

function figures({ timing, itemCount }: TimedWay): string[] {
  const micros = (passMs: number) => formatFigure((1000 * passMs) / itemCount)
  return [
    micros(timing.minMs),
    micros(timing.medianMs),
    micros(timing.p10Ms),
    micros(timing.p90Ms),
    String(timing.repetitionCount),
    formatCount((1000 * itemCount) / timing.medianMs),
  ]
}
