/**
 * One number of recipients of growth.ts: builds them, lets go of what they were built from, and
 * prints what asking them takes, as JSON.
 *
 *   node --expose-gc growth-child.js RECIPIENTS SEED SHAPES_AROUND_THE_FIRST
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readDrawing } from '../../../src/selection/shapes/shapes.js'
import type { Shard } from '../../../src/shard/layout.js'
import { drawnPolygons } from '../../requests/drawn.js'
import type { GrowthPoint } from '../growth.js'
import { fullPlan, measure } from './measure.js'
import { countOnShards, selectOnShards } from './ways.js'
import { buildWorld } from './world.js'

const SHAPE_COUNT = 2_000

const [recipientCount, seed, smallestCount] = process.argv.slice(2).map(Number)
// Once in small, so that code and cities are in memory already when the clean slate is weighed.
buildWorld(1_000, seed)
const emptyBytes = await residentBytes()
const { shards, geometries } = build()
const loadedBytes = await residentBytes()

const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
const countAll = () => shapes.reduce((sum, shape) => sum + countOnShards(shards, shape), 0)
const selectAll = () => shapes.reduce((sum, shape) => sum + selectOnShards(shards, shape).count, 0)
const hitCount = countAll()
if (selectAll() !== hitCount) throw new Error('counting and selecting disagree')

const bytesOf = (measureShard: (shard: Shard) => number) =>
  shards.reduce((sum, shard) => sum + measureShard(shard), 0)
const point: GrowthPoint = {
  recipientCount,
  shapeCount: shapes.length,
  hitCount,
  counting: measure(countAll, fullPlan),
  selecting: measure(selectAll, fullPlan),
  indexBytes: bytesOf(({ ids, coords }) => ids.byteLength + coords.byteLength),
  columnBytes: bytesOf(
    ({ contacts, phoneOffsets }) => contacts.byteLength + phoneOffsets.byteLength,
  ),
  textBytes: bytesOf(({ phones }) => phones.byteLength),
  residentBytes: loadedBytes - emptyBytes,
}
process.stdout.write(`${JSON.stringify(point)}\n`)

/** Apart, so that the columns of the import are garbage when it returns. */
function build() {
  const world = buildWorld(recipientCount, seed)
  // Larger worlds begin with the recipients of smaller ones, so the shapes are the same for all.
  const first = {
    lngs: world.columns.lngs.subarray(0, smallestCount),
    lats: world.columns.lats.subarray(0, smallestCount),
  }
  return { shards: world.shards, geometries: drawnPolygons(first, SHAPE_COUNT, seed) }
}

async function residentBytes(): Promise<number> {
  globalThis.gc?.()
  // Buffers are freed in the background, some time after they were found to be garbage.
  await sleep(500)
  globalThis.gc?.()
  await sleep(500)
  return process.memoryUsage.rss()
}
