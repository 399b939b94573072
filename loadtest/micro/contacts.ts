/**
 * What does it cost to count each contact once, by how many recipients a contact has?
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { partition } from '../../src/shard/build/partition.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import type { Shard } from '../../src/shard/layout.js'
import { type CountMode, countInside } from '../../src/shard/select.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { loadStates } from '../requests/atlas.js'
import { drawnPolygons } from '../requests/drawn.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'
import { buildShards } from './harness/world.js'

const DRAWN_COUNT = 1_000
const COUNTY_COUNT = 800
const STATE_COUNT = 20
/** Recipients of each contact of a source of large contacts, who follow each other in the import. */
const LARGE_CONTACT_COUNT = 20

export const contacts: Question = async ({ world: { columns, shards, seed } }) => {
  const regions = partition(columns, limits.shardRecipientCount)
  const worlds: Worlds = {
    'a contact each': buildShards(withContacts(columns, 1), regions),
    'several in 15 % of contacts': shards,
    [`${LARGE_CONTACT_COUNT} in each contact, anywhere`]: buildShards(
      withContacts(columns, LARGE_CONTACT_COUNT),
      regions,
    ),
  }
  return [
    compareContacts('drawn polygons', drawnPolygons(columns, DRAWN_COUNT, seed), shards, worlds),
    compareContacts('counties', some(loadCounties(), COUNTY_COUNT), shards, worlds),
    compareContacts('states', some(loadStates(), STATE_COUNT), shards, worlds),
  ]
}

/** The same recipients, with other contacts. */
type Worlds = Readonly<Record<string, readonly Shard[]>>

function some(areas: readonly { readonly geometry: Polygon | MultiPolygon }[], count: number) {
  return areas
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .filter((_, at, all) => at % Math.ceil(all.length / count) === 0)
}

function compareContacts(
  title: string,
  geometries: readonly (Polygon | MultiPolygon)[],
  shards: readonly Shard[],
  worlds: Worlds,
): Finding {
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const countOn = (held: readonly Shard[], mode: CountMode) => () => {
    let sum = 0
    for (const shape of shapes) {
      const budget = { edgeTestCount: limits.edgeTestCount }
      for (const count of countInside(held, shape, budget, mode)) sum += count
    }
    return sum
  }
  const ways = Object.entries(worlds).map(
    ([name, held]) => [name, countOn(held, 'Contact')] as const,
  )
  return compareInTurn({
    title: `${title}, each contact once`,
    shapeCount: shapes.length,
    ways: { recipients: countOn(shards, 'ContactLocation'), ...Object.fromEntries(ways) },
  })
}

function withContacts(columns: RecipientColumns, perContactCount: number): RecipientColumns {
  const { recipientCount } = columns
  return {
    ...columns,
    contacts: Uint32Array.from({ length: recipientCount }, (_, row) =>
      Math.floor(row / perContactCount),
    ),
    contactCount: Math.ceil(recipientCount / perContactCount),
  }
}
