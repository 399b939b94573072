/**
 * What do contacts and exclusion cost beside the plain count of the same shapes, and beside a list?
 *
 * @module
 */

import type { Feature, MultiPolygon, Polygon } from 'geojson'
import type { Shapes } from '../../src/geometry/shapes.js'
import { limits } from '../../src/limits.js'
import { RunCursor } from '../../src/selection/run-cursor.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { Shard } from '../../src/shard/layout.js'
import { encodeRows } from '../../src/shard/rows/encode-rows.js'
import { type CountMode, countInside, selectInside } from '../../src/shard/select.js'
import { withoutDegenerateRings } from '../../test/support/data/counties.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { loadStates } from '../requests/atlas.js'
import { drawnPolygons } from '../requests/drawn.js'
import type { Finding } from './harness/compare.js'
import { fullPlan, measure } from './harness/measure.js'
import type { Question } from './harness/stage.js'
import type { World } from './harness/world.js'

export const modes: Question = async ({ world }) => [
  compareModes('drawn polygons', drawnPolygons(world.columns, DRAWN_COUNT, world.seed), world),
  compareModes('states', someStates(), world),
]

const DRAWN_COUNT = 500
const STATE_COUNT = 10

function someStates() {
  return loadStates()
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .slice(0, STATE_COUNT)
}

function compareModes(
  title: string,
  geometries: readonly (Polygon | MultiPolygon)[],
  { shards }: World,
): Finding {
  const plain = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const excluding = geometries.map(
    (geometry) => readDrawing(withExclusion(geometry), 'shape').shapes,
  )
  const eachOf = (shapes: readonly Shapes[], cost: (each: Shapes) => number) => () =>
    shapes.reduce((sum, each) => sum + cost(each), 0)
  const ways = {
    count: eachOf(plain, (each) => countOf(shards, each, 'ContactLocation')),
    'count, mode Contact': eachOf(plain, (each) => countOf(shards, each, 'Contact')),
    'count, less an excluded polygon': eachOf(excluding, (each) =>
      countOf(shards, each, 'ContactLocation'),
    ),
    'list, encoded as JSON': eachOf(plain, (each) => listBytes(shards, each)),
  }
  const measured = Object.entries(ways).map(([name, pass]) => ({
    name,
    total: pass(),
    timing: measure(pass, fullPlan),
  }))
  const [base] = measured
  const micros = (passMs: number) => formatFigure((1000 * passMs) / geometries.length)
  return {
    table: {
      title: `${title}, how they count: ${formatCount(geometries.length)} shapes, one thread`,
      header: ['µs a shape', 'min', 'median', 'p10', 'p90', 'passes', 'found', 'to count'],
      rows: measured.map(({ name, total, timing }) => [
        name,
        micros(timing.minMs),
        micros(timing.medianMs),
        micros(timing.p10Ms),
        micros(timing.p90Ms),
        String(timing.repetitionCount),
        formatCount(total / geometries.length),
        `${formatFigure(timing.medianMs / base.timing.medianMs)}×`,
      ]),
    },
    ways: measured.map(({ name, timing }) => ({ name, itemCount: geometries.length, timing })),
    notes: ['found: recipients, contacts, recipients, and bytes'],
  }
}

/** The shape, less one of its own form and a third of its size in its north-east. */
function withExclusion(geometry: Polygon | MultiPolygon) {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const corners = polygons.flat(2)
  const east = Math.max(...corners.map(([lng]) => lng))
  const north = Math.max(...corners.map(([, lat]) => lat))
  const shrunk = polygons.map((rings) =>
    rings.map((ring) =>
      ring.map(([lng, lat]) => [east - (east - lng) / 3, north - (north - lat) / 3]),
    ),
  )
  const feature = (coordinates: MultiPolygon['coordinates'], exclude: boolean): Feature => ({
    type: 'Feature',
    properties: { exclude },
    geometry: { type: 'MultiPolygon', coordinates },
  })
  return {
    type: 'FeatureCollection',
    features: [feature(polygons, false), feature(shrunk, true)],
  }
}

function countOf(shards: readonly Shard[], shapes: Shapes, mode: CountMode): number {
  const counts = countInside(shards, shapes, { edgeTestCount: limits.edgeTestCount }, mode)
  return counts.reduce((sum, count) => sum + count, 0)
}

function listBytes(shards: readonly Shard[], shapes: Shapes): number {
  const runs = selectInside(shards, shapes, { edgeTestCount: limits.edgeTestCount })
  return runs.reduce((sum, each, at) => sum + encodedBytes(shards[at], each), 0)
}

const room = new Uint8Array(new SharedArrayBuffer(limits.rowBufferBytes))

/** Piece by piece, as a list is sent. */
function encodedBytes(shard: Shard, runs: Uint32Array): number {
  let byteCount = 0
  const rest = new RunCursor(runs)
  while (!rest.isAtEnd) {
    const piece = encodeRows(shard, rest.peek(limits.rowsPerChunkCount), { kind: 'json' }, room)
    byteCount += piece.byteCount
    rest.skip(piece.rowCount)
  }
  return byteCount
}
