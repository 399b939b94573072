/**
 * Which machines hold which shards: each shard as often as it should be, none with much more than its share, and few that
 * move.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  holdersOf,
  placementOn,
  readPlacement,
  writePlacement,
} from '../../src/snapshot/placement.js'
import { columnsOf } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const machineNames = (count: number) => Array.from({ length: count }, (_, at) => `site-${at}`)

const shardsArbitrary = fc
  .array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 60 })
  .map((counts) =>
    counts.map((recipientCount, regionIndex) => ({ sourceId: 3, regionIndex, recipientCount })),
  )

t.test('each shard is on so many machines, and no machine has much more than others', async (t) => {
  const seed = testSeed(t)
  const property = fc.property(
    shardsArbitrary,
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 4 }),
    (shards, machineCount, copies) => {
      const machines = machineNames(machineCount)
      const holders = holdersOf({ machines, copies }, shards)
      const wanted = Math.min(copies, machineCount)
      const loads = new Map(machines.map((machine) => [machine, 0]))
      for (const [place, own] of holders.entries()) {
        if (own.length !== wanted || new Set(own).size !== wanted) return false
        for (const machine of own) {
          loads.set(machine, (loads.get(machine) ?? Number.NaN) + shards[place].recipientCount)
        }
      }
      const total = shards.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
      const largest = Math.max(...shards.map(({ recipientCount }) => recipientCount))
      const share = (wanted * total) / machineCount
      // The order of the machines says nothing.
      const again = holdersOf({ machines: [...machines].reverse(), copies }, shards)
      t.same(again, holders)
      return [...loads.values()].every((load) => load <= 1.1 * share + largest)
    },
  )
  fc.assert(property, { seed, numRuns: 300 })
})

t.test('few shards move when a machine comes', async (t) => {
  const shards = Array.from({ length: 400 }, (_, regionIndex) => {
    return { sourceId: 1, regionIndex, recipientCount: 1_000 }
  })
  const before = holdersOf({ machines: machineNames(9), copies: 2 }, shards)
  const after = holdersOf({ machines: machineNames(10), copies: 2 }, shards)
  const movedCount = before.reduce(
    (sum, own, place) => sum + own.filter((machine) => !after[place].includes(machine)).length,
    0,
  )
  // A tenth would move at best.
  t.ok(movedCount >= 40 && movedCount < 0.25 * 800, `${movedCount} of 800 moved`)
})

t.test('with as many copies as machines, every machine holds all', async (t) => {
  const machines = machineNames(2).map((name) => ({ name }))
  t.equal(placementOn(machines, undefined), undefined)
  t.equal(placementOn(machines, 2), undefined)
  t.same(placementOn([...machines, { name: 'c' }], 2), {
    machines: ['site-0', 'site-1', 'c'],
    copies: 2,
  })
})

t.test('it is read as it was written, or not at all', async (t) => {
  const data = temporaryDirectory(t)
  const id = await publishTest(
    data,
    1,
    columnsOf([{ phone: '+9991', lng: 0, lat: 0, contact: '' }]),
  )
  t.equal(await readPlacement(data, id), undefined)
  const placement = { machines: ['a', 'b', 'c'], copies: 2 }
  await writePlacement(data, id, placement)
  t.same(await readPlacement(data, id), placement)
  const path = join(data, 'snapshots', id, 'placement.json')
  for (const text of [
    '',
    '{}',
    '{"format":"hickory-placement","formatVersion":1,"machines":["a"],"copies":1}',
  ]) {
    writeFileSync(path, text)
    await t.rejects(readPlacement(data, id), { code: 'SnapshotCorrupt' })
  }
})
