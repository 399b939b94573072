/**
 * Where a descent begins, against everybody's position.
 *
 * @module
 */
import t from 'tap'
import { emptySubtree, enclose, type Subtree } from '../../../src/shard/descent/enclose.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { testSeed } from '../../support/random/properties.js'
import { randomWorld, seededRandom, worldKinds } from '../../support/random/world.js'
import { shardsOf } from '../../support/service/local-service.js'

t.test(
  'nobody within the bounds is outside of the subtree, and nobody in it beyond its cell',
  async (t) => {
    const random = seededRandom(testSeed(t))
    let smallerCount = 0
    for (const world of worldKinds) {
      const columns = randomWorld(world, 5_000, random)
      const [shard] = shardsOf(columns, 1, columns.recipientCount).map(attachShard)
      for (let round = 0; round < 200; round++) {
        const [a, b] = [0, 1].map(() => random.between(0, shard.recipientCount - 1))
        const grown = random.pick([-1, 0, 0, 1, 5_000])
        const bounds = boundsOf(shard, a, round % 3 === 0 ? b : a, grown)
        const subtree = emptySubtree()
        enclose(shard, bounds, subtree)
        if (!agrees(shard, bounds, subtree)) {
          t.fail(`${world}, round ${round}`, { subtree, bounds: [...bounds] })
        }
        if (subtree.right - subtree.left + 1 < shard.recipientCount) smallerCount++
      }
    }
    t.ok(smallerCount > 100, `${smallerCount} began further down`)
  },
)

t.test('a shard that is one leaf is all of the subtree', async (t) => {
  const columns = randomWorld('uniform', 60, seededRandom(testSeed(t)))
  const [shard] = shardsOf(columns, 1, 60).map(attachShard)
  const subtree = emptySubtree()
  enclose(shard, boundsOf(shard, 0, 0, 0), subtree)
  t.match(subtree, { left: 0, right: 59, isByLat: false, ...shard.box })
})

/** Around two recipients, and so many units more; fewer than none may leave nothing within. */
function boundsOf({ coords }: Shard, a: number, b: number, grown: number): Float64Array {
  return Float64Array.of(
    Math.min(coords[2 * a], coords[2 * b]) - grown,
    Math.min(coords[2 * a + 1], coords[2 * b + 1]) - grown,
    Math.max(coords[2 * a], coords[2 * b]) + grown,
    Math.max(coords[2 * a + 1], coords[2 * b + 1]) + grown,
  )
}

function agrees({ coords, recipientCount }: Shard, bounds: Float64Array, at: Subtree): boolean {
  for (let index = 0; index < recipientCount; index++) {
    const lng = coords[2 * index]
    const lat = coords[2 * index + 1]
    const isWithin = lng >= bounds[0] && lng <= bounds[2] && lat >= bounds[1] && lat <= bounds[3]
    const isBelow = index >= at.left && index <= at.right
    if (isWithin && !isBelow) return false
    const isInCell = lng >= at.minLng && lng <= at.maxLng && lat >= at.minLat && lat <= at.maxLat
    if (isBelow && !isInCell) return false
  }
  return true
}
