import t from 'tap'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { randomPen } from '../support/random/fine-coordinates.js'
import { testSeed } from '../support/random/properties.js'
import { randomShape } from '../support/random/shapes.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

t.test('each contact counts once, where the list has it first', async (t) => {
  const random = seededRandom(testSeed(t))
  const sources = [1, 2].map((id) =>
    shardsOf(randomWorld('grid', 3_000, random), id, 700).map(attachShard),
  )
  const shards = sources.flat()
  for (let round = 0; round < 300; round++) {
    const { coords } = random.pick(shards)
    const shape = randomShape('grid', random, coords[0], coords[1], randomPen(random))
    const shapes = including(polygonsOf(shape))
    const plain = selectInside(shards, shapes, { edgeTestCount: 1e9 })
    const expected = sources.flatMap((source, at) =>
      firsts(source, plain.slice(at * source.length, (at + 1) * source.length)),
    )
    const kept = selectInside(shards, shapes, { edgeTestCount: 1e9 }, 'Contact')
    t.same(kept.map(members), expected)
    const counts = countInside(shards, shapes, { edgeTestCount: 1e9 }, 'Contact')
    t.same(
      [...counts],
      expected.map((list) => list.length),
    )
  }
})

function firsts(shards: readonly Shard[], runs: readonly Uint32Array[]): number[][] {
  const seen = new Set<number>()
  return runs.map((each, at) =>
    members(each).filter((recipient) => {
      const contact = shards[at].contacts[recipient]
      return !seen.has(contact) && seen.add(contact)
    }),
  )
}

function members(runs: Uint32Array): number[] {
  const list: number[] = []
  for (let i = 0; i < runs.length; i += 2) for (let j = runs[i]; j < runs[i + 1]; j++) list.push(j)
  return list
}
