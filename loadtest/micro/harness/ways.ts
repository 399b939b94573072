/**
 * The ways to count who is inside a shape.
 *
 * @module
 */
import { around } from 'geokdbush'
import type { Shapes } from '../../../src/geometry/shapes.js'
import { limits } from '../../../src/limits.js'
import type { Shard } from '../../../src/shard/layout.js'
import { recipientCountOf } from '../../../src/shard/runs.js'
import { countInside, selectInside } from '../../../src/shard/select.js'
import type { WrittenGeometry } from '../../peers/ewkb.js'
import { toHexEwkb } from '../../peers/ewkb.js'
import type { Postgis, PostgisTable } from '../../peers/postgis.js'
import { type Circle, type Corridor, naiveCircleCount, naiveCorridorCount } from '../distances.js'
import { type NaiveIndex, type NaivePolygon, naiveCount } from './naive.js'

export interface Way {
  readonly name: string
  /** Heads the column of ratios to it; the engine's own ways have none. */
  readonly ratioTitle: string | undefined
  /** The server is another process, so its answers come later. */
  readonly isRemote: boolean
  /**
   * Counts the recipients in shape `at`.
   *
   * @param slackMetres  what to add to its radius or buffer, if it has one
   */
  count(at: number, slackMetres: number): number | Promise<number>
}

/** The engine, counting and selecting. */
export function engineWays(shards: readonly Shard[], shapes: readonly Shapes[]): Way[] {
  const way = (name: string, count: (shapes: Shapes) => number): Way => ({
    name,
    ratioTitle: undefined,
    isRemote: false,
    count: (at) => count(shapes[at]),
  })
  return [
    way('countInside', (shape) => countOnShards(shards, shape)),
    way('selectInside', (shape) => selectOnShards(shards, shape).count),
  ]
}

export function countOnShards(shards: readonly Shard[], shapes: Shapes): number {
  const counts = countInside(shards, shapes, { edgeTestCount: limits.edgeTestCount })
  let sum = 0
  for (const count of counts) sum += count
  return sum
}

export function selectOnShards(shards: readonly Shard[], shapes: Shapes) {
  let count = 0
  let runCount = 0
  for (const runs of selectInside(shards, shapes, { edgeTestCount: limits.edgeTestCount })) {
    count += recipientCountOf(runs)
    runCount += runs.length / 2
  }
  return { count, runCount }
}

export function naivePolygonWay(
  index: NaiveIndex,
  polygons: readonly (readonly NaivePolygon[])[],
): Way {
  const count = (at: number) => naiveCount(index, polygons[at])
  return naiveWay('KDBush.range + point-in-polygon-hao', count)
}

export function naiveCircleWay(index: NaiveIndex, circles: readonly Circle[]): Way {
  return naiveWay('KDBush.range + haversine', (at, slackMetres) =>
    naiveCircleCount(index, circles[at], slackMetres),
  )
}

export function naiveCorridorWay(index: NaiveIndex, corridors: readonly Corridor[]): Way {
  return naiveWay('KDBush.range + distance to segments', (at, slackMetres) =>
    naiveCorridorCount(index, corridors[at], slackMetres),
  )
}

/** What it finds is sorted by distance, which counting has no use for. */
export function geokdbushWay({ index }: NaiveIndex, circles: readonly Circle[]): Way {
  const count = (at: number, slackMetres: number) => {
    const { lng, lat, radiusMetres } = circles[at]
    const kilometres = (radiusMetres + slackMetres) / 1000
    return around(index, lng, lat, Number.POSITIVE_INFINITY, kilometres).length
  }
  return { name: 'geokdbush around', ratioTitle: 'geokdbush', isRemote: false, count }
}

export function postgisPolygonWay(
  postgis: Postgis,
  table: PostgisTable,
  geometries: readonly WrittenGeometry[],
): Way {
  const written = geometries.map(toHexEwkb)
  return postgisWay('PostGIS ST_Covers, GiST', (at) => postgis.countCovered(table, written[at]))
}

export function postgisDistanceWay(
  postgis: Postgis,
  table: PostgisTable,
  geometries: readonly WrittenGeometry[],
  metres: readonly number[],
): Way {
  const written = geometries.map(toHexEwkb)
  return postgisWay('PostGIS ST_DWithin, GiST', (at, slackMetres) =>
    postgis.countWithin(table, written[at], metres[at] + slackMetres),
  )
}

function naiveWay(name: string, count: (at: number, slackMetres: number) => number): Way {
  return { name, ratioTitle: 'naive', isRemote: false, count }
}

function postgisWay(
  name: string,
  count: (at: number, slackMetres: number) => Promise<number>,
): Way {
  return { name, ratioTitle: 'PostGIS', isRemote: true, count }
}
