/**
 * Who is inside these polygons? The engine beside the naive way and PostGIS.
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import type { Shapes } from '../../src/geometry/shapes.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { Shard } from '../../src/shard/layout.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { type Comparison, compare, type Finding } from './harness/compare.js'
import { type NaiveIndex, type NaivePolygon, toNaivePolygon } from './harness/naive.js'
import type { Database } from './harness/stage.js'
import { engineWays, naivePolygonWay, postgisPolygonWay, selectOnShards } from './harness/ways.js'

export interface PolygonQuestion {
  readonly title: string
  readonly geometries: readonly (Polygon | MultiPolygon)[]
  readonly baselineShapeCount: number
  readonly shards: readonly Shard[]
  /** Both are of the same recipients as the shards. */
  readonly naiveIndex: NaiveIndex | undefined
  readonly database: Database | undefined
}

export function comparePolygons(question: PolygonQuestion): Promise<Finding> {
  const { title, geometries, baselineShapeCount, shards, naiveIndex, database } = question
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const baselines: Comparison['baselines'] = [
    ...(naiveIndex ? [naivePolygonWay(naiveIndex, geometries.map(toNaivePolygons))] : []),
    ...(database ? [postgisPolygonWay(database.postgis, database.table, geometries)] : []),
  ]
  return compare({
    title,
    shapeCount: shapes.length,
    baselineShapeCount,
    engine: engineWays(shards, shapes),
    baselines,
    toleranceMetres: 0,
    describe: `${describeVertices(geometries)}, ${describeRuns(shards, shapes)}`,
  })
}

export function describeRuns(shards: readonly Shard[], shapes: readonly Shapes[]): string {
  const runCount = shapes.reduce((sum, shape) => sum + selectOnShards(shards, shape).runCount, 0)
  return `${formatCount(runCount / shapes.length)} runs`
}

function describeVertices(geometries: readonly (Polygon | MultiPolygon)[]): string {
  const rings = geometries.flatMap((geometry) =>
    geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat(),
  )
  // The last position of a ring is the first again.
  const vertexCount = rings.reduce((sum, ring) => sum + ring.length - 1, 0)
  return `${formatFigure(vertexCount / geometries.length)} vertices`
}

function toNaivePolygons(geometry: Polygon | MultiPolygon): NaivePolygon[] {
  const members = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  return members.map(toNaivePolygon)
}
