/**
 * Whoever is beyond a mask is as if not there, by every way to count and to list.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { haversineMetres } from '../../src/geometry/great-circle.js'
import type { Shapes } from '../../src/geometry/shapes.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import {
  atRank,
  commonRuns,
  countWithin,
  createMask,
  isAllBeyond,
  isWithin,
  maskShards,
  rankOf,
  takeWithin,
} from '../../src/shard/mask.js'
import { RunList } from '../../src/shard/runs.js'
import { countInside, coveredBy, selectInside } from '../../src/shard/select.js'
import { mark, marksBytes } from '../../src/shard/suppressed.js'
import { inArenas } from '../support/data/arenas.js'
import { testSeed } from '../support/random/properties.js'
import { featureKinds, randomRequest } from '../support/random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const allKinds = [...worldKinds, ...globeWorldKinds]
const WORLD_SIZE = byTier({ ci: 600, soak: 1_500 })
const plenty = () => ({ edgeTestCount: 1e9 })

const runLists = fc
  .uniqueArray(fc.nat(200), { maxLength: 40 })
  .map((places) => places.sort((a, b) => a - b).slice(0, places.length & ~1))

t.test('who is in two lists of runs is in what they have in common', async (t) => {
  const property = fc.property(runLists, runLists, (left, right) => {
    const wanted = new Set(members(right))
    const common = commonRuns(Uint32Array.from(left), Uint32Array.from(right))
    t.same(
      members(common),
      members(left).filter((at) => wanted.has(at)),
    )
    t.ok(common.every((bound, i, all) => i % 2 === 0 || bound > all[i - 1]))
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 100, soak: 5_000 }) })
})

t.test('ranks are places among those within, and back', async (t) => {
  const property = fc.property(fc.array(runLists, { minLength: 1, maxLength: 5 }), (lists) => {
    const mask = createMask(
      1,
      lists.map((each) => Uint32Array.from(each)),
    )
    const inOrder = lists.flatMap((each, shardIndex) =>
      members(each).map((recipient) => ({ shardIndex, recipient })),
    )
    // One comparison for all: an assertion takes longer than what it looks at.
    const ranks = inOrder.map((_, rank) => rank)
    t.same(
      ranks.map((rank) => atRank(mask, rank)),
      inOrder,
    )
    t.same(
      inOrder.map((place) => rankOf(mask, place)),
      ranks,
    )
    t.same(atRank(mask, inOrder.length), { shardIndex: lists.length, recipient: 0 })
    for (const [shardIndex] of lists.entries()) {
      for (const recipient of [0, 50, 201]) {
        const before = inOrder.filter(
          (place) =>
            place.shardIndex < shardIndex ||
            (place.shardIndex === shardIndex && place.recipient < recipient),
        )
        t.equal(rankOf(mask, { shardIndex, recipient }), before.length)
      }
    }
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 25, soak: 1_000 }) })
})

t.test('of runs those are taken who are within', async (t) => {
  const property = fc.property(runLists, runLists, (bounds, within) => {
    const mask = Uint32Array.from(within)
    const runs = new RunList()
    for (let i = 0; i < bounds.length; i += 2) runs.append(bounds[i], bounds[i + 1])
    const left = new RunList()
    takeWithin(mask, runs, left)
    const wanted = new Set(members(within))
    t.same(
      members(left.toPairs()),
      members(bounds).filter((at) => wanted.has(at)),
    )
    t.equal(countWithin(mask, runs), left.recipientCount())
    const isNormal = left.toPairs().every((bound, i, all) => i === 0 || bound > all[i - 1])
    t.ok(isNormal, 'runs are sorted, not empty, and do not touch')
    for (let at = 0; at <= 200; at++) if (isWithin(mask, at) !== wanted.has(at)) t.fail(`${at}`)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 50, soak: 1_000 }) })
})

t.test('a shard that is all within has no mask, and one without anybody is known', async (t) => {
  const columns = randomWorld('uniform', 300, seededRandom(1))
  const shards = shardsOf(columns, 1, 100).map(attachShard)
  const sizes = shards.map(({ recipientCount }) => recipientCount)
  const none = new Uint32Array(0)
  const all = Uint32Array.of(0, sizes[0])
  const some = Uint32Array.of(0, sizes[2] - 1)
  const mask = createMask(1, [all, none, some, ...sizes.slice(3).map(() => none)])
  const masked = maskShards(shards, mask)
  t.equal(masked[0], shards[0])
  t.same(masked[1].mask, none)
  t.same(masked[2].mask, some)
  t.same(
    shards.slice(0, 3).map((_, at) => isAllBeyond(mask, at)),
    [false, true, false],
  )
})

t.test('shapes of all kinds select who is within, and counts are those of lists', async (t) => {
  const random = seededRandom(testSeed(t))
  let foundCount = 0
  for (let world = 0; world < byTier({ ci: 4, soak: 400 }); world++) {
    const columns = randomWorld(random.pick(allKinds), WORLD_SIZE, random)
    const images = shardsOf(columns, 1, random.between(200, 2_000))
    const shards = (world % 2 === 0 ? images : inArenas(images, 1)).map(attachShard)
    const masked = maskShards(shards, randomMask(shards, random))
    for (let round = 0; round < 5; round++) {
      const shapes = randomShapes(columns, random)
      if (shapes === undefined) continue
      const plain = selectInside(shards, shapes, plenty())
      const expected = plain.map((runs, at) => withinOf(runs, masked[at]))
      const found = selectInside(masked, shapes, plenty()).map((runs) => members(runs))
      t.same(found, expected)
      const counts = [...countInside(masked, shapes, plenty())]
      t.same(
        counts,
        expected.map(({ length }) => length),
      )
      foundCount += counts.reduce((sum, count) => sum + count, 0)
    }
  }
  t.ok(foundCount > 20, `${foundCount} found`)
})

t.test('the nearest are among those within, however many are nearer beyond', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('uniform', 6_000, random)
  for (const shardRecipientCount of [6_000, 1_700]) {
    const shards = shardsOf(columns, 1, shardRecipientCount).map(attachShard)
    for (let round = 0; round < byTier({ ci: 4, soak: 300 }); round++) {
      const masked = maskShards(shards, randomMask(shards, random))
      const [lng, lat] = [-71 + random.unit(), 42 + random.unit()]
      const count = random.pick([1, 3, 30])
      const metres = ({ coords }: Shard, at: number) =>
        haversineMetres(lng * 1e7, lat * 1e7, coords[2 * at], coords[2 * at + 1])
      const drawn = { geometry: { type: 'Point', coordinates: [lng, lat] }, type: 'Feature' }
      const { shapes } = readDrawing({ ...drawn, properties: { nearest: count } }, 'shape')
      const distances = selectInside(masked, shapes, plenty()).flatMap((runs, at) =>
        members(runs).map((recipient) => metres(shards[at], recipient)),
      )
      const expected = masked
        .flatMap((shard) =>
          withinOf([0, shard.recipientCount], shard).map((at) => metres(shard, at)),
        )
        .sort((a, b) => a - b)
        .slice(0, count)
      const sorted = distances.sort((a, b) => a - b)
      t.equal(sorted.length, expected.length)
      t.ok(sorted.every((each, i) => Math.abs(each - expected[i]) < 1e-6))
    }
  }
})

t.test('a mask is of who is covered, suppressed or not', async (t) => {
  const columns = randomWorld('uniform', 100, seededRandom(3))
  const [shard] = shardsOf(columns, 1, 100).map(attachShard)
  const marks = new Int32Array(marksBytes(100) / 4)
  for (let at = 0; at < 100; at += 3) mark(marks, at)
  const { shapes } = readDrawing({ xmin: -180, ymin: -90, xmax: 180, ymax: 90 }, 'shape')
  t.same(coveredBy({ ...shard, marks }, shapes, plenty()), [0, 100])
})

const kinds = [
  ...featureKinds.filter((kind) => kind !== 'nearest'),
  'exclude',
  'featureSources',
] as const

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

/** Few or many runs of each shard, or all or nobody. */
function randomMask(shards: readonly Shard[], random: Random) {
  const runs = shards.map(({ recipientCount }) => {
    if (random.unit() < 0.2) return random.pick([[], [0, recipientCount]])
    const boundCount = random.pick([2, 10, 200])
    const places = Array.from({ length: boundCount }, () => random.between(0, recipientCount))
    const bounds = [...new Set(places)].sort((a, b) => a - b)
    return bounds.slice(0, bounds.length & ~1)
  })
  return createMask(
    1,
    runs.map((each) => Uint32Array.from(each)),
  )
}

function withinOf(runs: ArrayLike<number>, { mask }: Shard): number[] {
  return members(runs).filter((at) => mask === null || isWithin(mask, at))
}

function members(pairs: ArrayLike<number>): number[] {
  const all: number[] = []
  for (let i = 0; i < pairs.length; i += 2) {
    for (let at = pairs[i]; at < pairs[i + 1]; at++) all.push(at)
  }
  return all
}
