/**
 * A snapshot and random changes, as query workers see them at any moment, against a plain list of people.
 *
 * @module
 */
import t from 'tap'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { ChangedShards } from '../../src/shard/delta/increment.js'
import { LiveShards } from '../../src/shard/delta/live-shards.js'
import { createMask, isWithin, type Mask } from '../../src/shard/mask.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import {
  changedBy,
  openedLive,
  type People,
  type Person,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../support/random/live-world.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const plenty = () => ({ edgeTestCount: 1e10 })

t.test('at every moment those are there who should be, in all modes', async (t) => {
  const random = seededRandom(testSeed(t))
  let droppedCount = 0
  for (let world = 0; world < byTier({ ci: 5, soak: 300 }); world++) {
    const hasKeys = [random.unit() < 0.5, random.unit() < 0.5]
    const made = new Map<number, Person>()
    const first = SOURCE_IDS.map(() =>
      Array.from({ length: random.between(0, 60) }, (_, at) => {
        return randomPerson(made, `k${at}`, random)
      }),
    )
    const { live, shards, close } = await openedLive(temporaryDirectory(t), first, hasKeys)
    // What a worker knows that was there from the beginning, and one that starts later.
    const workers = [new LiveShards(shards, SOURCE_IDS)]
    const told: ChangedShards[] = []
    const history: People[] = [first]
    const batchCount = random.between(1, 25)
    for (let moment = 1; moment <= batchCount; moment++) {
      const source = random.between(0, 1)
      const before = history[moment - 1]
      const changes = randomChanges(made, before[source], hasKeys[source], random)
      live.apply(
        SOURCE_IDS[source],
        changes.map(({ change }) => change),
        moment,
      )
      const after = changedBy(before[source], changes, hasKeys[source])
      history.push(before.map((people, at) => (at === source ? after : people)))
      if (random.unit() < 0.5) continue
      const increment = live.takeChanged()
      if (increment === undefined) throw new Error('there is a new moment')
      told.push(increment)
      for (const worker of workers) worker.add(increment)
      if (random.unit() < 0.2) {
        const late = new LiveShards(shards, SOURCE_IDS)
        for (const each of told) late.add(each)
        workers.push(late)
      }
      const asked = random.unit() < 0.6 ? moment : random.between(0, moment)
      droppedCount += check(random.pick(workers), { moment: asked, people: history[asked], made })
    }
    close()

    function check(
      worker: LiveShards,
      { moment, people, made }: { moment: number; people: People; made: Map<number, Person> },
    ): number {
      const parts = shards.length + SOURCE_IDS.length
      const mask = random.unit() < 0.5 ? null : randomMask(worker, parts, random)
      const seen = (withTies: boolean) =>
        Array.from({ length: parts }, (_, at) => worker.at(at, moment, mask, withTies))
      const { shapes, isInside } = randomBox(random)
      const what = `world ${world}, moment ${moment}`
      const plain = selectInside(seen(false), shapes, plenty()).map(membersOf)
      const persons = plain.map((members, at) => {
        const { coords } = worker.columnsAt(at)
        return members.map((index) => made.get(coords[2 * index + 1]))
      })
      const isSeen = (at: number, index: number) => mask === null || isWithin(mask.runs[at], index)
      const expected = people.flatMap((each, source) =>
        each.filter((person) => isInside(person)).map(({ lat }) => `${source} ${lat}`),
      )
      const all = new Set(expected)
      if (mask === null) {
        const found = persons.flatMap((each, at) => {
          const source = SOURCE_IDS.indexOf(seen(false)[at].sourceId)
          return each.map((person) => `${source} ${person?.lat}`)
        })
        t.same(found.sort(), expected.sort(), what)
      } else {
        for (const [at, members] of plain.entries()) {
          t.ok(
            members.every((index) => isSeen(at, index)),
            what,
          )
          for (const person of persons[at]) {
            const source = SOURCE_IDS.indexOf(seen(false)[at].sourceId)
            if (!all.has(`${source} ${person?.lat}`)) t.fail(`${what}: nobody of them`)
          }
        }
      }
      const counts = countInside(seen(false), shapes, plenty())
      t.same(
        [...counts],
        plain.map(({ length }) => length),
        what,
      )
      let droppedCount = 0
      for (const [mode, isDistinct] of MODES) {
        const list = selectInside(seen(true), shapes, plenty(), mode, isDistinct).map(membersOf)
        const counts = countInside(seen(true), shapes, plenty(), mode, isDistinct)
        t.same(
          [...counts],
          list.map(({ length }) => length),
          `${what}, ${mode}, ${isDistinct}`,
        )
        const sources = seen(true).map(({ sourceId }) => sourceId)
        const firsts = firstsOf(plain, persons, sources, mode === 'Contact', isDistinct)
        t.same(list, firsts, `${what}, ${mode}, distinct ${isDistinct}`)
        droppedCount += plain.flat().length - list.flat().length
      }
      return droppedCount
    }
  }
  t.ok(droppedCount > 100, `${droppedCount} dropped`)
})

const MODES = [
  ['ContactLocation', true],
  ['Contact', false],
  ['Contact', true],
] as const

function randomBox(random: Random) {
  const [west, east] = [random.between(0, 60), random.between(40, 99)].sort((a, b) => a - b)
  const ring = [
    [west - 0.5, -10],
    [east + 0.5, -10],
    [east + 0.5, 9_999],
    [west - 0.5, 9_999],
    [west - 0.5, -10],
  ].map((position) => position.map((units) => units / 1e7))
  const geometry = { type: 'Polygon', coordinates: [ring] }
  const { shapes } = readDrawing(geometry, 'geoJSON')
  return { shapes, isInside: ({ lng }: Person) => lng >= west && lng <= east }
}

function randomMask(worker: LiveShards, count: number, random: Random): Mask {
  const runs = Array.from({ length: count }, (_, at) => {
    const { recipientCount } = worker.columnsAt(at)
    const places = Array.from({ length: 4 }, () => random.between(0, recipientCount))
    const bounds = [...new Set(places)].sort((a, b) => a - b)
    return Uint32Array.from(bounds.slice(0, bounds.length & ~1))
  })
  return createMask(1, runs)
}

/** Of plain selections: each contact of a source once, then each phone once, in the order of the list. */
function firstsOf(
  plain: readonly number[][],
  persons: readonly (Person | undefined)[][],
  sources: readonly number[],
  isByContact: boolean,
  isDistinct: boolean,
): number[][] {
  const phones = new Set<string>()
  const contacts = new Set<string>()
  return plain.map((members, at) =>
    members.filter((_, i) => {
      const { contact = '', phone = '' } = persons[at][i] ?? {}
      if (isByContact) {
        const own = `${sources[at]} ${contact === '' ? phone : `contact ${contact}`}`
        if (contacts.has(own)) return false
        contacts.add(own)
      }
      if (isDistinct && phones.has(phone)) return false
      phones.add(phone)
      return true
    }),
  )
}

function membersOf(runs: ArrayLike<number>): number[] {
  const members: number[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let at = runs[i]; at < runs[i + 1]; at++) members.push(at)
  }
  return members
}
