import t from 'tap'
import { haversineMetres } from '../../src/geometry/great-circle.js'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { isMarked } from '../../src/shard/suppressed.js'
import { inArenas } from '../support/data/arenas.js'
import { markSuppressed } from '../support/data/marked.js'
import { randomPen } from '../support/random/fine-coordinates.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const plenty = () => ({ edgeTestCount: 1e9 })

for (const kind of worldKinds) {
  t.test(`the nearest of all, of some and but some, ${kind} recipients`, async (t) => {
    const random = seededRandom(testSeed(t))
    const columns = randomWorld(kind, 2_000, random)
    const shards = shardsOf(columns, 1, 450).map(attachShard)
    const byShard = shards.map(recipientsOf)
    const everyone = byShard.flat()
    for (let round = 0; round < byTier({ ci: 10, soak: 200 }); round++) {
      const { lng, lat } = random.pick(everyone)
      const [toLng, toLat] = randomPen(random)([
        lng + random.between(-1e5, 1e5),
        clamp(lat + random.between(-1e5, 1e5)),
      ])
      const count = random.pick([1, 2, 20, 500, limits.nearestCount])
      const near = featureAt(toLng + random.pick([-1080, -360, 0, 360, 720]), toLat, {
        nearest: count,
      })
      const centre = random.pick(everyone)
      const radius = random.pick([100, 10_000, 1e6])
      const circle = (properties: object) =>
        featureAt(centre.lng / 1e7, centre.lat / 1e7, { radius, ...properties })
      const isInCircle = (one: Recipient) =>
        haversineMetres(centre.lng, centre.lat, one.lng, one.lat) <= radius
      const metres = (one: Recipient) => haversineMetres(toLng * 1e7, toLat * 1e7, one.lng, one.lat)
      const check = (name: string, features: object[], candidates: Recipient[]) => {
        const found = select(shards, features)
        const expected = candidates
          .map(metres)
          .sort((a, b) => a - b)
          .slice(0, count)
        const distances = found.map(metres).sort((a, b) => a - b)
        const isSame = distances.every((each, i) => Math.abs(each - expected[i]) < 1e-6)
        t.ok(distances.length === expected.length && isSame, `${name}, ${count}`)
        const all = new Set(candidates)
        t.ok(found.every((one) => all.has(one)))
      }
      const select = (from: readonly Shard[], features: object[]) => {
        const shapes = readDrawing({ type: 'FeatureCollection', features }, 'shapes').shapes
        return selectInside(from, shapes, plenty()).flatMap((runs, at) =>
          byShard[at].filter((one) => isIn(runs, one.recipient)),
        )
      }
      check('of all', [near], everyone)
      check('within a circle', [circle({}), near], everyone.filter(isInCircle))
      const outside = everyone.filter((one) => !isInCircle(one))
      check('but a circle', [near, circle({ exclude: true })], outside)
    }
  })
}

t.test('of recipients at one position the first that were imported are the nearest', async (t) => {
  const columns = randomWorld('equal', 1_000, seededRandom(1))
  const [shard] = shardsOf(columns, 1, 1_000).map(attachShard)
  const near = featureAt(shard.coords[0] / 1e7, shard.coords[1] / 1e7, { nearest: 7 })
  const [runs] = selectInside([shard], readDrawing(near, 'shape').shapes, plenty())
  const ranks = recipientsOf(shard, 0)
    .filter((one) => isIn(runs, one.recipient))
    .map(({ rank }) => rank)
  t.same(
    ranks.sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6],
  )
})

t.test('the nearest are of those who are not suppressed', async (t) => {
  const random = seededRandom(testSeed(t))
  const images = inArenas(shardsOf(randomWorld('uniform', 1_000, random), 1, 450), 1)
  const shards = images.map(attachShard)
  const everyone = shards.flatMap(recipientsOf)
  markSuppressed(shards, (phone) => Number(phone.slice(-1)) % 2 === 0)
  const isMarkedOf = ({ at, recipient }: Recipient) => isMarked(marksOf(shards[at]), recipient)
  const { lng, lat } = everyone.find(isMarkedOf) ?? everyone[0]
  const near = readDrawing(featureAt(lng / 1e7, lat / 1e7, { nearest: 40 }), 'shape').shapes
  const runs = selectInside(shards, near, plenty())
  const found = everyone.filter(({ at, recipient }) => isIn(runs[at], recipient))
  t.equal(found.length, 40)
  t.same(found.filter(isMarkedOf), [])
})

t.test('a search counts against the budget', async (t) => {
  const shards = shardsOf(randomWorld('uniform', 2_000, seededRandom(1)), 1, 2_000).map(attachShard)
  const near = readDrawing(featureAt(0, 0, { nearest: 1_000 }), 'shape').shapes
  const spends = (edgeTestCount: number) => {
    try {
      selectInside(shards, near, { edgeTestCount })
      return false
    } catch (error) {
      return error instanceof BudgetSpent
    }
  }
  t.ok(spends(100_000))
  t.notOk(spends(10_000_000))
})

interface Recipient {
  readonly at: number
  readonly recipient: number
  readonly rank: number
  readonly lng: number
  readonly lat: number
}

function recipientsOf({ coords, ids }: Shard, at: number): Recipient[] {
  return Array.from(ids, (rank, recipient) => ({
    at,
    recipient,
    rank,
    lng: coords[2 * recipient],
    lat: coords[2 * recipient + 1],
  }))
}

function marksOf({ marks }: Shard): Int32Array {
  if (marks === null) throw new Error('shards in arenas have marks')
  return marks
}

function isIn(runs: Uint32Array, recipient: number): boolean {
  return runs.some((start, i) => i % 2 === 0 && start <= recipient && recipient < runs[i + 1])
}

function featureAt(lng: number, lat: number, properties: object): object {
  return { type: 'Feature', geometry: { type: 'Point', coordinates: [lng, lat] }, properties }
}

function clamp(lat: number): number {
  return Math.max(-9e8, Math.min(9e8, lat))
}
