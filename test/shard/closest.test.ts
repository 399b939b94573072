import t from 'tap'
import { Closest } from '../../src/shard/closest.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'

t.test('of many that are offered the nearest are kept, and ties go to the first', async (t) => {
  const random = seededRandom(testSeed(t))
  for (const count of [1, 3, 700]) {
    const closest = new Closest(count, { edgeTestCount: 1e12 })
    const offered = Array.from({ length: 5_000 }, (_, recipient) => ({
      metres: random.between(0, 300),
      at: random.between(0, 2),
      rank: recipient ^ 1,
      recipient,
    }))
    for (const { metres, at, rank, recipient } of offered) {
      closest.offer(metres, at, rank, recipient)
    }
    t.ok(closest.farthestMetres < 300, 'it has been cut on the way')
    const expected = offered
      .toSorted((a, b) => a.metres - b.metres || a.at - b.at || a.rank - b.rank)
      .slice(0, count)
    t.same(
      closest.sorted().map(({ at, recipient }) => [at, recipient]),
      expected.map(({ at, recipient }) => [at, recipient]),
    )
    t.equal(closest.farthestMetres, expected[count - 1].metres)
  }
})

t.test('fewer than wanted are all kept, however far away', async (t) => {
  const closest = new Closest(3, { edgeTestCount: 1e12 })
  closest.offer(9, 0, 0, 5)
  closest.offer(2, 1, 0, 6)
  t.same(
    closest.sorted().map(({ at, recipient }) => [at, recipient]),
    [
      [1, 6],
      [0, 5],
    ],
  )
  t.equal(closest.farthestMetres, Number.POSITIVE_INFINITY)
})
