/**
 * What do changes cost that came since the snapshot? Drawn polygons, counted and selected, with none, 1 and
 * 2 % of the recipients changed: over the whole area, and about one city.
 *
 * @module
 */

import { GrowingDelta } from '../../src/live/growing-delta.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { LiveShards } from '../../src/shard/delta/live-shards.js'
import type { Shard } from '../../src/shard/layout.js'
import { seededRandom } from '../../test/support/random/world.js'
import { drawnPolygons } from '../requests/drawn.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'
import { countOnShards, selectOnShards } from './harness/ways.js'
import type { World } from './harness/world.js'

export const live: Question = async ({ world }) => {
  const shapes = drawnPolygons(world.columns, DRAWN_COUNT, world.seed).map(
    (geometry) => readDrawing(geometry, 'shape').shapes,
  )
  const places = { spread: spreadOver(world), 'in one city': aboutCity(world) }
  return Object.entries(places).flatMap(([where, order]) => {
    const held = {
      'the snapshot alone': world.shards,
      'nothing changed': changed(world, order, 0),
      '1 % changed': changed(world, order, 0.01),
      '2 % changed': changed(world, order, 0.02),
    }
    const compare = (verb: string, count: (shards: readonly Shard[]) => number) =>
      compareInTurn({
        title: `drawn polygons ${verb}, changes ${where}`,
        shapeCount: shapes.length,
        ways: Object.fromEntries(
          Object.entries(held).map(([name, shards]) => [name, () => count(shards)]),
        ),
      })
    return [
      compare('counted', (shards) =>
        shapes.reduce((sum, shape) => sum + countOnShards(shards, shape), 0),
      ),
      compare('selected', (shards) =>
        shapes.reduce((sum, shape) => sum + selectOnShards(shards, shape).count, 0),
      ),
    ]
  })
}

const DRAWN_COUNT = 1_000
const BATCH_COUNT = 100
const SOURCE_ID = 1
/** New York, in units of 1e-7 degree. */
const CITY = { lng: -740_060_000, lat: 407_130_000 }
/** How far somebody moves at most, in units of 1e-7 degree. */
const MOVE_UNITS = 100_000

interface Placed {
  readonly shardIndex: number
  readonly place: number
  readonly lng: number
  readonly lat: number
}

function everybody({ shards }: World): Placed[] {
  return shards.flatMap(({ recipientCount, coords }, shardIndex) =>
    Array.from({ length: recipientCount }, (_, place) => {
      return { shardIndex, place, lng: coords[2 * place], lat: coords[2 * place + 1] }
    }),
  )
}

/** Who changes first comes first. */
function spreadOver(world: World): Placed[] {
  const random = seededRandom(world.seed)
  const all = everybody(world)
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.between(0, at)
    const swapped = all[at]
    all[at] = all[other]
    all[other] = swapped
  }
  return all
}

function aboutCity(world: World): Placed[] {
  const distance = ({ lng, lat }: Placed) => Math.hypot(lng - CITY.lng, lat - CITY.lat)
  return everybody(world).sort((a, b) => distance(a) - distance(b))
}

/** Half of the changes move somebody, a quarter let somebody go, and a quarter bring somebody new. */
function changed(world: World, order: readonly Placed[], share: number): Shard[] {
  const { shards, seed } = world
  const random = seededRandom(seed)
  const held = new LiveShards(shards, [SOURCE_ID])
  const delta = new GrowingDelta(SOURCE_ID, 0)
  const batchSize = Math.ceil((share * order.length) / BATCH_COUNT)
  const moment = share === 0 ? 0 : BATCH_COUNT
  for (let batch = 1; batch <= moment; batch++) {
    const gone = shards.map((): number[] => [])
    for (const [at, each] of order.slice((batch - 1) * batchSize, batch * batchSize).entries()) {
      if (at % 4 !== 3) gone[each.shardIndex].push(each.place)
      if (at % 4 === 2) continue
      const off = () => random.between(-MOVE_UNITS, MOVE_UNITS)
      const identity = `${batch} ${at}`
      const lng = each.lng + off()
      const lat = each.lat + off()
      const upsert = { op: 'upsert', identity, phone: '+999', contact: '', key: undefined } as const
      delta.come({ ...upsert, lng, lat }, { contactId: 0, phoneId: 0 }, batch)
    }
    const told = delta.takeIncrement()
    held.add({
      moment: batch,
      shards: gone.flatMap((places, shardIndex) =>
        places.length === 0 ? [] : [goneFrom(shardIndex, places, batch)],
      ),
      deltas: told === undefined ? [] : [told],
    })
  }
  return Array.from({ length: shards.length + 1 }, (_, at) =>
    held.at(at, moment, null, false),
  ).filter(({ recipientCount }) => recipientCount > 0)
}

function goneFrom(shardIndex: number, places: readonly number[], moment: number) {
  const nobody = { recipients: new Uint32Array(0), ids: new Uint32Array(0) }
  const gone = {
    recipients: Uint32Array.from(places),
    moments: new Uint32Array(places.length).fill(moment),
  }
  return { shardIndex, gone, byContact: nobody, byPhone: nobody }
}
