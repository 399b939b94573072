/**
 * Counts and selects what is inside some shapes, beside the naive way, and compares the counts.
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import type { Shapes } from '../../src/geometry/shapes.js'
import { limits } from '../../src/limits.js'
import { readShapes } from '../../src/selection/shapes.js'
import type { Shard } from '../../src/shard/layout.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { formatCount, formatFigure, type Table } from '../table.js'
import { fullPlan, type MeasurePlan, measure, naivePlan, type Timing } from './measure.js'
import { buildNaiveIndex, type NaivePolygon, naiveCount, toNaivePolygon } from './naive.js'
import type { World } from './world.js'

/** @throws when a count differs between any two ways */
export function measureSelections(
  title: string,
  world: World,
  geometries: readonly (Polygon | MultiPolygon)[],
): Table {
  const { shards } = world
  const shapes = geometries.map(toShape)
  const naiveIndex = buildNaiveIndex(world.columns)
  const countNaively = (shape: Shape) => naiveCount(naiveIndex, shape.naivePolygons)
  // A whole pass of each before any is timed, so that all are compiled for what they will meet.
  const hits = shapes.map((shape, at) =>
    agreedCount(
      at,
      countNaively(shape),
      countOnShards(shards, shape),
      selectOnShards(shards, shape).count,
    ),
  )
  const timed = (count: (shape: Shape) => number, plan: MeasurePlan) =>
    measure(() => shapes.reduce((sum, shape) => sum + count(shape), 0), plan)
  const counting = timed((shape) => countOnShards(shards, shape), fullPlan)
  const selecting = timed((shape) => selectOnShards(shards, shape).count, fullPlan)
  const naive = timed(countNaively, naivePlan)
  const runCount = shapes.reduce((sum, shape) => sum + selectOnShards(shards, shape).runCount, 0)
  const row = (name: string, timing: Timing) => toRow(name, timing, naive, shapes.length)
  return {
    title: `${title}: ${describe(shapes, hits)}, ${formatCount(runCount / shapes.length)} runs`,
    header: ['µs a shape', 'min', 'median', 'p10', 'p90', 'passes', 'shapes/s', 'to naive'],
    rows: [
      row('countInside', counting),
      row('selectInside', selecting),
      row('naive: KDBush.range + point-in-polygon-hao', naive),
    ],
  }
}

/** One shape in the form that each way takes. */
interface Shape {
  readonly shapes: Shapes
  readonly naivePolygons: readonly NaivePolygon[]
}

function toShape(geometry: Polygon | MultiPolygon): Shape {
  const members = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  return { shapes: readShapes(geometry, 'shape'), naivePolygons: members.map(toNaivePolygon) }
}

function countOnShards(shards: readonly Shard[], { shapes }: Shape): number {
  const counts = countInside(shards, shapes, { edgeTestCount: limits.edgeTestCount })
  let sum = 0
  for (const count of counts) sum += count
  return sum
}

function selectOnShards(shards: readonly Shard[], { shapes }: Shape) {
  let count = 0
  let runCount = 0
  for (const runs of selectInside(shards, shapes, { edgeTestCount: limits.edgeTestCount })) {
    for (let i = 0; i < runs.length; i += 2) count += runs[i + 1] - runs[i]
    runCount += runs.length / 2
  }
  return { count, runCount }
}

function agreedCount(at: number, naive: number, counted: number, selected: number): number {
  if (naive === counted && naive === selected) return naive
  throw new Error(
    `shape ${at}: the naive way finds ${naive}, countInside ${counted}, selectInside ${selected}`,
  )
}

function describe(shapes: readonly Shape[], hits: readonly number[]): string {
  const vertexCount = shapes.reduce(
    (sum, shape) => sum + shape.shapes.included[0].polygons.vertices.length / 2,
    0,
  )
  const hitCount = hits.reduce((sum, count) => sum + count, 0)
  const median = hits.toSorted((a, b) => a - b)[hits.length >> 1]
  return (
    `${formatCount(shapes.length)} shapes, all counts equal; on average ` +
    `${formatFigure(vertexCount / shapes.length)} vertices, ` +
    `${formatCount(hitCount / shapes.length)} hits (median ${formatCount(median)})`
  )
}

function toRow(name: string, timing: Timing, naive: Timing, shapeCount: number): string[] {
  const micros = (passMs: number) => formatFigure((1000 * passMs) / shapeCount)
  return [
    name,
    micros(timing.minMs),
    micros(timing.medianMs),
    micros(timing.p10Ms),
    micros(timing.p90Ms),
    String(timing.repetitionCount),
    formatCount((1000 * shapeCount) / timing.medianMs),
    `${formatFigure(naive.medianMs / timing.medianMs)}×`,
  ]
}
