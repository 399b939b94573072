/**
 * What does it cost to give each phone once over three sources, where some of them repeat?
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { buildShard } from '../../src/shard/build/build.js'
import { partition } from '../../src/shard/build/partition.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { countInside } from '../../src/shard/select.js'
import { inArenas } from '../../test/support/data/arenas.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { seededRandom } from '../../test/support/random/world.js'
import { loadStates } from '../requests/atlas.js'
import { drawnPolygons } from '../requests/drawn.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'

const SOURCE_COUNT = 3
const DRAWN_COUNT = 1_000
const COUNTY_COUNT = 800

export const distinct: Question = async ({ world: { columns, seed } }) => {
  const shards = inArenas(threeSources(columns), 1).map(attachShard)
  return [
    compareShares('drawn polygons', drawnPolygons(columns, DRAWN_COUNT, seed), shards, seed),
    compareShares('counties', some(loadCounties(), COUNTY_COUNT), shards, seed),
    compareShares('states', some(loadStates(), COUNTY_COUNT), shards, seed),
  ]
}

function some(areas: readonly { readonly geometry: Polygon | MultiPolygon }[], count: number) {
  return areas
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .filter((_, at, all) => at % Math.ceil(all.length / count) === 0)
}

function compareShares(
  title: string,
  geometries: readonly (Polygon | MultiPolygon)[],
  shards: readonly Shard[],
  seed: number,
): Finding {
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const countOn = (held: readonly Shard[], isDistinct: boolean) => () => {
    let sum = 0
    for (const shape of shapes) {
      const budget = { edgeTestCount: limits.edgeTestCount }
      for (const count of countInside(held, shape, budget, 'ContactLocation', isDistinct)) {
        sum += count
      }
    }
    return sum
  }
  return compareInTurn({
    title: `${title}, each number once over ${SOURCE_COUNT} sources`,
    shapeCount: shapes.length,
    ways: {
      'not distinct': countOn(shards, false),
      'no number repeats': countOn(withRepeats(shards, 0, seed), true),
      '10 % repeat': countOn(withRepeats(shards, 0.1, seed), true),
      '30 % repeat': countOn(withRepeats(shards, 0.3, seed), true),
    },
  })
}

/** The recipients of all of the country in each source, a third of them in each. */
function threeSources(columns: RecipientColumns) {
  return Array.from({ length: SOURCE_COUNT }, (_, source) => {
    const own = everyThird(columns, source)
    return partition(own, limits.shardRecipientCount).map((rows, regionIndex) =>
      buildShard(own, rows, source + 1, regionIndex),
    )
  }).flat()
}

function everyThird(columns: RecipientColumns, first: number): RecipientColumns {
  const rows = Array.from(
    { length: Math.ceil((columns.recipientCount - first) / SOURCE_COUNT) },
    (_, i) => first + SOURCE_COUNT * i,
  )
  const { contactCount, phoneOffsets } = columns
  const offsets = new Uint32Array(rows.length + 1)
  for (const [i, row] of rows.entries()) {
    offsets[i + 1] = offsets[i] + phoneOffsets[row + 1] - phoneOffsets[row]
  }
  return {
    recipientCount: rows.length,
    lngs: Int32Array.from(rows, (row) => columns.lngs[row]),
    lats: Int32Array.from(rows, (row) => columns.lats[row]),
    contacts: Uint32Array.from(rows, (row) => columns.contacts[row]),
    contactCount,
    phoneOffsets: offsets,
    phones: columns.phones.subarray(0, offsets[rows.length]),
  }
}

/** A share of recipients anywhere, two to a phone: who has it, too, may be far away. */
function withRepeats(shards: readonly Shard[], share: number, seed: number): Shard[] {
  const random = seededRandom(seed)
  const total = shards.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
  const idMax = Math.ceil((share * total) / 2)
  return shards.map((shard) => {
    const recipients: number[] = []
    for (let at = 0; at < shard.recipientCount; at++) if (random.unit() < share) recipients.push(at)
    const phoneIds = Uint32Array.from(recipients, () => random.between(0, idMax))
    return { ...shard, repeats: { recipients: Uint32Array.from(recipients), phoneIds } }
  })
}
