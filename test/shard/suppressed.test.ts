/**
 * Whoever is marked is as if not there, by every way to count and to list.
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Shapes } from '../../src/geometry/shapes.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { RunList } from '../../src/shard/runs.js'
import { type CountMode, countInside, selectInside } from '../../src/shard/select.js'
import {
  countMarked,
  hasMarks,
  isMarked,
  type Marks,
  mark,
  markedCount,
  marksBytes,
  takeUnmarked,
  unmark,
} from '../../src/shard/suppressed.js'
import { inArenas } from '../support/data/arenas.js'
import { withRepeatedPhones } from '../support/data/repeated-phones.js'
import { withRepeats } from '../support/data/repeats.js'
import { withContactTies } from '../support/data/ties.js'
import { testSeed } from '../support/random/properties.js'
import { featureKinds, randomRequest } from '../support/random/requests.js'
import { type Random, randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const plenty = () => ({ edgeTestCount: 1e9 })

t.test('marks are counted and found, set and cleared as often as one likes', async (t) => {
  const changes = fc.array(fc.record({ recipient: fc.nat(99), isSet: fc.boolean() }))
  const property = fc.property(changes, (list) => {
    const marks = new Int32Array(marksBytes(100) / 4)
    const marked = new Set<number>()
    for (const { recipient, isSet } of list) {
      if (isSet) marked.add(recipient)
      else marked.delete(recipient)
      if (isSet) mark(marks, recipient)
      else unmark(marks, recipient)
    }
    t.equal(markedCount(marks), marked.size)
    t.equal(hasMarks(marks), marked.size > 0)
    for (let recipient = 0; recipient < 100; recipient++) {
      if (isMarked(marks, recipient) !== marked.has(recipient)) t.fail(String(recipient))
    }
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 100 })
  t.equal(hasMarks(null), false)
})

t.test('of runs those are taken who are not marked', async (t) => {
  const bounds = fc.uniqueArray(fc.nat(200), { maxLength: 20 })
  const property = fc.property(bounds, fc.array(fc.nat(199)), (places, marked) => {
    const sorted = places.sort((a, b) => a - b).slice(0, places.length & ~1)
    const runs = new RunList()
    for (let i = 0; i < sorted.length; i += 2) runs.append(sorted[i], sorted[i + 1])
    const marks = new Int32Array(marksBytes(200) / 4)
    for (const recipient of marked) mark(marks, recipient)
    const left = new RunList()
    takeUnmarked(marks, runs, left)
    const expected = members(runs.toPairs()).filter((at) => !marked.includes(at))
    t.same(members(left.toPairs()), expected)
    t.equal(countMarked(marks, runs), runs.recipientCount() - expected.length)
    const isNormal = left.toPairs().every((bound, i, all) => i === 0 || bound > all[i - 1])
    t.ok(isNormal, 'runs are sorted, not empty, and do not touch')
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 60, soak: 300 }) })
})

t.test('shapes of all kinds select who is left, in every mode', async (t) => {
  const random = seededRandom(testSeed(t))
  let selectedCount = 0
  for (let round = 0; round < byTier({ ci: 40, soak: 150 }); round++) {
    const columns = [1, 2].map(() =>
      withRepeatedPhones(randomWorld('grid', random.between(1, 400), random), 0.2, random),
    )
    const images = columns.flatMap((each, id) => shardsOf(each, id + 1, 150))
    const tied = withRepeats(inArenas(images, 1))
    const shards = (random.unit() < 0.3 ? tied : withContactTies(tied)).map(attachShard)
    const shapes = randomShapes(columns[0], random)
    if (shapes === undefined) continue
    const share = random.pick([0, 0.001, 0.05, 0.5, 1])
    const before = shapes.nearest.length > 0 ? undefined : selectInside(shards, shapes, plenty())
    for (const { marks, recipientCount } of shards) {
      for (let at = 0; at < recipientCount; at++) {
        if (marks !== null && random.unit() < share) mark(marks, at)
      }
    }
    const left = selectInside(shards, shapes, plenty())
    if (before !== undefined) {
      t.same(left.map(members), unmarkedOf(shards, before.map(members)), `round ${round}`)
    }
    selectedCount += left.flatMap(members).length
    agreesInAllModes(shards, shapes, left.map(members))
  }
  t.ok(selectedCount > byTier({ ci: 100, soak: 1_000 }), `${selectedCount} selected`)

  function agreesInAllModes(shards: readonly Shard[], shapes: Shapes, plain: number[][]): void {
    t.same(unmarkedOf(shards, plain), plain, 'nobody who is marked')
    for (const mode of ['ContactLocation', 'Contact'] satisfies CountMode[]) {
      for (const isDistinct of [false, true]) {
        const expected = reduced(shards, plain, mode, isDistinct)
        const list = selectInside(shards, shapes, plenty(), mode, isDistinct).map(members)
        const counts = countInside(shards, shapes, plenty(), mode, isDistinct)
        t.same(list, expected, `${mode}, distinct ${isDistinct}`)
        t.same(
          [...counts],
          expected.map(({ length }) => length),
        )
      }
    }
  }
})

t.test('marks cost of the budget, little beside the shape', async (t) => {
  const columns = randomWorld('uniform', 50_000, seededRandom(1))
  const [shard] = inArenas(shardsOf(columns, 1, 50_000), 1).map(attachShard)
  const shapes = eastAndNorthOf(columns.lngs[0] / 1e7, columns.lats[0] / 1e7)
  const costOf = () => {
    const budget = plenty()
    countInside([shard], shapes, budget)
    return plenty().edgeTestCount - budget.edgeTestCount
  }
  const without = costOf()
  mark(shard.marks as Marks, 7)
  const cost = costOf()
  t.ok(cost > without, `${cost} and ${without}`)
  t.ok(cost < 3 * without, `${cost} and ${without}`)
  try {
    countInside([shard], shapes, { edgeTestCount: cost - 1 })
    t.fail('one test less is not enough')
  } catch (error) {
    t.ok(error instanceof BudgetSpent)
  }
})

const ROUND_COUNT = byTier({ ci: 500, soak: 3_000 })

t.test('while another thread sets and clears marks, no count is impossible', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('uniform', 2_000, random)
  const [shard] = inArenas(shardsOf(columns, 1, 2_000), 1).map(attachShard)
  const marks = shard.marks as Marks
  const shapes = eastAndNorthOf(-180, -90)
  const [all] = selectInside([shard], shapes, plenty()).map(members)
  t.equal(all.length, 2_000)
  // Of the first two, who are of one word, one at least is marked at any time.
  const control = new Int32Array(new SharedArrayBuffer(8))
  mark(marks, 0)
  const url = new URL('./fixtures/marker.js', import.meta.url)
  const marker = new Worker(url, { workerData: { marks, control } })
  while (Atomics.load(control, 0) === 0) await new Promise((resolve) => setImmediate(resolve))
  const wrong = new Set<string>()
  const seen = new Set<number>()
  const giveUpMs = performance.now() + 30_000
  // The other thread may have to wait for its turn.
  const isToBeSeen = () => seen.size < 2 && performance.now() < giveUpMs
  for (let round = 0; round < ROUND_COUNT || isToBeSeen(); round++) {
    const [count] = countInside([shard], shapes, plenty())
    seen.add(count)
    if (count > 1_999 || count < 1_990) wrong.add(`counted ${count}`)
    const [list] = selectInside([shard], shapes, plenty()).map(members)
    if (list.includes(0) && list.includes(1)) wrong.add('both are listed')
    if (list.length < 1_990 || list.slice(-1_990)[0] !== 10) wrong.add('somebody is missing')
  }
  Atomics.store(control, 1, 1)
  await new Promise((resolve) => marker.once('exit', resolve))
  t.same([...wrong], [])
  t.ok(Atomics.load(control, 0) > 1, `${Atomics.load(control, 0)} turns of the other thread`)
  t.ok(seen.size > 1, `${seen.size} different counts`)
  t.equal(markedCount(marks), 1)
  t.same([...countInside([shard], shapes, plenty())], [1_999])
})

const kinds = [...featureKinds, 'exclude', 'featureSources'] as const

/** Undefined for shapes that are refused. */
function randomShapes(columns: RecipientColumns, random: Random): Shapes | undefined {
  const { geoJSON, geojson, GeoJson } = randomRequest(columns, [1, 2], kinds, random)
  try {
    return readDrawing(geoJSON ?? geojson ?? GeoJson, 'geoJSON').shapes
  } catch (error) {
    if (error instanceof ServiceError && [400, 422].includes(error.status)) return undefined
    throw error
  }
}

function eastAndNorthOf(lng: number, lat: number): Shapes {
  return readDrawing({ xmin: lng, ymin: lat, xmax: 180, ymax: 90 }, 'shape').shapes
}

function unmarkedOf(shards: readonly Shard[], lists: number[][]): number[][] {
  return lists.map((list, at) => {
    const { marks } = shards[at]
    return list.filter((recipient) => marks === null || !isMarked(marks, recipient))
  })
}

/** Of each contact of a source the first, then of each phone. */
function reduced(
  shards: readonly Shard[],
  lists: number[][],
  mode: CountMode,
  isDistinct: boolean,
): number[][] {
  const contacts = new Set<string>()
  const phones = new Set<string>()
  return lists.map((list, at) => {
    const shard = shards[at]
    const own = phonesByShard(shard)
    const isFirst = (seen: Set<string>, key: string) => !seen.has(key) && seen.add(key) === seen
    return list.filter((recipient) => {
      const contact = `${shard.sourceId} ${shard.contacts[recipient]}`
      if (mode === 'Contact' && !isFirst(contacts, contact)) return false
      return !isDistinct || isFirst(phones, own[recipient])
    })
  })
}

function phonesByShard({ phones, phoneOffsets, recipientCount }: Shard): string[] {
  return Array.from({ length: recipientCount }, (_, at) =>
    Buffer.from(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1])).toString(),
  )
}

function members(runs: Uint32Array): number[] {
  const list: number[] = []
  for (let i = 0; i < runs.length; i += 2) for (let j = runs[i]; j < runs[i + 1]; j++) list.push(j)
  return list
}
