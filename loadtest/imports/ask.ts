/**
 * What it takes to count who is inside a drawn polygon and a county, of a published snapshot and in
 * one thread:
 *
 *   node ask.js DATA SEED RESULT
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import type { MultiPolygon, Polygon } from 'geojson'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { attachShard } from '../../src/shard/layout.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { fullPlan, measure } from '../micro/harness/measure.js'
import { countOnShards } from '../micro/harness/ways.js'
import { drawnPolygons } from '../requests/drawn.js'

/** What is written to RESULT, as JSON. */
export interface Asked {
  readonly drawnMicros: number
  readonly countyMicros: number
}

/** As many as larger numbers of recipients begin with, so that the shapes are the same for all. */
const RECIPIENT_COUNT_DRAWN = 1_000
const SHAPE_COUNT = 2_000

const [dataDirectory, seed, resultPath] = process.argv.slice(2)
const { shards: images } = await openSnapshot(dataDirectory)
const shards = images.map(attachShard)
const positions = syntheticColumns({
  recipientCount: RECIPIENT_COUNT_DRAWN,
  seed: Number(seed),
  countries: ['US'],
})
const counties = loadCounties().flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
const asked: Asked = {
  drawnMicros: microsOf(drawnPolygons(positions, SHAPE_COUNT, Number(seed))),
  countyMicros: microsOf(counties),
}
writeFileSync(resultPath, JSON.stringify(asked))

function microsOf(geometries: readonly (Polygon | MultiPolygon)[]): number {
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const pass = () => shapes.reduce((sum, shape) => sum + countOnShards(shards, shape), 0)
  return (1000 * measure(pass, fullPlan).medianMs) / shapes.length
}
