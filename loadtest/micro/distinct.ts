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
import { attachShard, type Shard, type ShardImage } from '../../src/shard/layout.js'
import { countInside } from '../../src/shard/select.js'
import { tiePhones } from '../../src/shard/ties/ties.js'
import { tiedSetsIn } from '../../src/snapshot/format/shard-image.js'
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
  const images = inArenas(threeSources(columns), 1)
  const worlds: Worlds = {
    none: images.map(attachShard),
    tenth: withRepeats(images, 0.1, 'byPhone', seed),
    third: withRepeats(images, 0.3, 'byContact', seed),
  }
  return [
    compareShares('drawn polygons', drawnPolygons(columns, DRAWN_COUNT, seed), worlds),
    compareShares('counties', some(loadCounties(), COUNTY_COUNT), worlds),
    compareShares('states', some(loadStates(), COUNTY_COUNT), worlds),
  ]
}

/** The same shards, of which no phones, a tenth and nearly a third of the phones repeat. */
type Worlds = Readonly<Record<'none' | 'tenth' | 'third', readonly Shard[]>>

function some(areas: readonly { readonly geometry: Polygon | MultiPolygon }[], count: number) {
  return areas
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .filter((_, at, all) => at % Math.ceil(all.length / count) === 0)
}

function compareShares(
  title: string,
  geometries: readonly (Polygon | MultiPolygon)[],
  { none, tenth, third }: Worlds,
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
      'not distinct': countOn(none, false),
      'no number repeats': countOn(none, true),
      '10 % repeat': countOn(tenth, true),
      '30 % repeat': countOn(third, true),
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

/**
 * A share of recipients anywhere, two to a phone: who has it, too, may be far away.
 *
 * @param place  of the two sets in the room of a shard, of which contacts do not need theirs here
 */
function withRepeats(
  images: readonly ShardImage[],
  share: number,
  place: 'byPhone' | 'byContact',
  seed: number,
): Shard[] {
  const random = seededRandom(seed)
  const total = images.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
  const phoneCount = Math.ceil((share * total) / 2)
  // As an import gives them: in the order in which phones first appear.
  const idOf = new Int32Array(phoneCount).fill(-1)
  let idEnd = 0
  const nextId = () => {
    const phone = random.between(0, phoneCount - 1)
    if (idOf[phone] === -1) idOf[phone] = idEnd++
    return idOf[phone]
  }
  return images.map((shard) => {
    const { image, recipientCount } = shard
    const recipients: number[] = []
    for (let at = 0; at < recipientCount; at++) if (random.unit() < share) recipients.push(at)
    const phoneIds = Uint32Array.from(recipients, nextId)
    const set = tiedSetsIn({ bytes: image }, image.length, recipientCount)[place]
    tiePhones({ recipients: Uint32Array.from(recipients), phoneIds }, set)
    const phoneTies = { set, isInArena: true, ids: phoneIds, idEnd: phoneCount }
    return attachShard({ ...shard, phoneTies })
  })
}
