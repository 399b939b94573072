/**
 * What do suppressed recipients cost who are inside, and who are elsewhere in the shard?
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { Shard } from '../../src/shard/layout.js'
import { mark, marksBytes } from '../../src/shard/suppressed.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { seededRandom } from '../../test/support/random/world.js'
import { drawnPolygons } from '../requests/drawn.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'
import { countOnShards } from './harness/ways.js'
import type { World } from './harness/world.js'

export const marks: Question = async ({ world }) => [
  compareMarks('drawn polygons', drawnPolygons(world.columns, DRAWN_COUNT, world.seed), world),
  compareMarks('counties', someCounties(), world),
]

const DRAWN_COUNT = 1_000
const COUNTY_COUNT = 800

function someCounties() {
  return loadCounties()
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .filter((_, at, all) => at % Math.ceil(all.length / COUNTY_COUNT) === 0)
}

function compareMarks(
  title: string,
  geometries: readonly (Polygon | MultiPolygon)[],
  { shards, seed }: World,
): Finding {
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const countOn = (held: readonly Shard[]) => () =>
    shapes.reduce((sum, shape) => sum + countOnShards(held, shape), 0)
  return compareInTurn({
    title: `${title}, suppressed recipients among them`,
    shapeCount: shapes.length,
    ways: {
      'no room for marks': countOn(shards.map((shard) => ({ ...shard, marks: null }))),
      'nobody marked': countOn(withMarks(shards, 0, seed)),
      'one in a shard': countOn(withMarks(shards, 1 / limits.shardRecipientCount, seed)),
      '0.1 % marked': countOn(withMarks(shards, 0.001, seed)),
      '10 % marked': countOn(withMarks(shards, 0.1, seed)),
    },
  })
}

/** The same shards with marks of their own; if any at all, one in each at least. */
function withMarks(shards: readonly Shard[], share: number, seed: number): Shard[] {
  const random = seededRandom(seed)
  return shards.map((shard) => {
    const { recipientCount } = shard
    const marks = new Int32Array(new SharedArrayBuffer(marksBytes(recipientCount)))
    if (share > 0) mark(marks, random.between(0, recipientCount - 1))
    const count = Math.round(share * recipientCount)
    for (let i = 1; i < count; i++) mark(marks, random.between(0, recipientCount - 1))
    return { ...shard, marks }
  })
}
