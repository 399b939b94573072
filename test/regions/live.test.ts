/**
 * Changes where each machine holds some of the shards: the increments are those of a machine that holds all, and so are
 * the answers at every moment.
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { NO_BOUNDARY } from '../../src/selection/boundary.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import type { ChangedShards } from '../../src/shard/delta/increment.js'
import { hasColumns } from '../../src/shard/layout.js'
import { loadSnapshot } from '../../src/snapshot/load/load.js'
import { writePlacement } from '../../src/snapshot/placement.js'
import { randomGrid } from '../support/grids/expected-grid.js'
import { gridText } from '../support/grids/grid-of.js'
import {
  changedBy,
  liveOf,
  type Person,
  publishPeople,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../support/random/live-world.js'
import { testSeed } from '../support/random/properties.js'
import type { JsonObject } from '../support/random/requests.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { answeredText } from '../support/service/answer-to.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { serviceOf } from '../support/service/local-service.js'
import { spreadMachines } from '../support/service/spread-machines.js'
import { byTier } from '../support/tier.js'

// Small shards, to have some of each source.
const { shardRecipientCount } = limits
Object.assign(limits, { shardRecipientCount: 20 })
t.teardown(() => Object.assign(limits, { shardRecipientCount }))

t.test('changes are the same wherever the shards are', async (t) => {
  const random = seededRandom(testSeed(t))
  let elsewhereCount = 0
  for (let world = 0; world < byTier({ ci: 2, soak: 150 }); world++) {
    const data = temporaryDirectory(t)
    const made = new Map<number, Person>()
    const hasKeys = [random.unit() < 0.5, random.unit() < 0.5]
    let people = SOURCE_IDS.map(() =>
      Array.from({ length: random.between(0, 80) }, (_, at) =>
        randomPerson(made, `k${at}`, random),
      ),
    )
    const id = await publishPeople(data, people, hasKeys)
    const load = (machine?: string) => loadSnapshot(data, id, createArenaPool(1), { machine })
    const whole = await load()
    const names = ['a', 'b', 'c'].slice(0, random.between(2, 3))
    await writePlacement(data, id, { machines: names, copies: 1 })
    const machines = await Promise.all(names.map((name) => load(name)))
    const { holders = [] } = machines[0]
    elsewhereCount += machines[0].shards.filter((shard) => !hasColumns(shard)).length
    const lives = await Promise.all([whole, ...machines].map((each) => liveOf(data, each)))
    const { sources } = whole
    const one = serviceOf(id, sources, whole.shards)
    const spread = spreadMachines({
      snapshotId: id,
      sources,
      rule: NO_BOUNDARY,
      holders,
      machines: names,
      imagesOf: (machine) => machines[names.indexOf(machine)].shards,
    })
    for (let moment = 1; moment <= 12; moment++) {
      const source = random.between(0, 1)
      const changes = randomChanges(made, people[source], hasKeys[source], random)
      const after = changedBy(people[source], changes, hasKeys[source])
      people = people.map((each, at) => (at === source ? after : each))
      const batch = changes.map(({ change }) => change)
      const [expected, ...increments] = lives.map(({ live }) => {
        live.apply(SOURCE_IDS[source], batch, moment)
        return live.takeChanged() as ChangedShards
      })
      one.add(expected)
      for (const [machine, increment] of increments.entries()) {
        t.same(plain(increment), plain(expected), `world ${world}, moment ${moment}`)
        spread[machine]?.add(increment)
      }
      const request = randomRequest(random)
      const text = await answeredText(newest(one), request, 'json')
      for (const machine of spread) {
        const found = await answeredText(newest(machine), request, 'json')
        t.equal(found, text, `world ${world}, moment ${moment}: ${JSON.stringify(request)}`)
      }
      const { countsOnly: _, ...selection } = request as JsonObject
      const gridded = { ...selection, ...randomGrid({ lng: 50, lat: 100 }, random) }
      const grid = await gridText(newest(one), gridded)
      const { Count, OutsideCount = 0 } = JSON.parse(grid)
      const counted = JSON.parse(
        await answeredText(newest(one), { ...selection, countsOnly: true }, 'json'),
      )
      const total = counted.SourceRecords.reduce(
        (sum: number, each: { Count: number }) => sum + each.Count,
        0,
      )
      t.equal(Count + OutsideCount, total, `world ${world}, moment ${moment}: counted`)
      for (const machine of spread) {
        t.equal(await gridText(newest(machine), gridded), grid, `world ${world}, moment ${moment}`)
      }
    }
    for (const { close } of lives) close()
  }
  t.ok(elsewhereCount > 0, `${elsewhereCount} shards were elsewhere`)
})

const newest = (service: ReturnType<typeof serviceOf>) => service.views.at(service.newestMoment())

/** Without marks, which are memory of each machine. */
function plain({ deltas, ...increment }: ChangedShards) {
  return {
    ...increment,
    deltas: deltas.map(({ marks: _, packs, ...delta }) => ({ ...delta, packCount: packs.length })),
  }
}

function randomRequest(random: Random) {
  const [west, least] = [random.between(0, 60), random.between(40, 99)].sort((a, b) => a - b)
  const east = Math.max(west + 1, least)
  const corners = [
    [west, -1],
    [east, -1],
    [east, 3_000],
    [west, 3_000],
    [west, -1],
  ]
  const coordinates = [corners.map(([lng, lat]) => [lng / 1e7, lat / 1e7])]
  const near = { lng: random.between(0, 99) / 1e7, lat: random.between(0, 300) / 1e7 }
  const polygon = { type: 'Feature', geometry: { type: 'Polygon', coordinates }, properties: {} }
  const nearest = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [near.lng, near.lat] },
    properties: { nearest: random.between(1, 9), ...(random.unit() < 0.4 && { exclude: true }) },
  }
  return {
    geoJSON: {
      type: 'FeatureCollection',
      features: random.unit() < 0.4 ? [polygon, nearest] : [polygon],
    },
    ...(random.unit() < 0.3 && { distinct: true }),
    ...(random.unit() < 0.3 && { contactCountMode: 'Contact' }),
    ...(random.unit() < 0.5 && { countsOnly: true }),
  }
}
