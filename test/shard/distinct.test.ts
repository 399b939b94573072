import t from 'tap'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import { attachShard } from '../../src/shard/layout.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { withRepeatedPhones } from '../support/data/repeated-phones.js'
import { withRepeats } from '../support/data/repeats.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

const random = seededRandom(3)
const columns = withRepeatedPhones(randomWorld('uniform', 3_000, random), 0.3, random)
const images = [1, 2].flatMap((id) => shardsOf(columns, id, 700))
const shards = withRepeats(images).map(attachShard)
const globe = [
  [-180, -90],
  [180, -90],
  [180, 90],
  [-180, 90],
]
const shapes = including(polygonsOf([[globe]]))

t.test(
  'a look at phones costs of the budget, and leaves nothing behind when it is spent',
  async (t) => {
    const differentCount = new Set(shards.flatMap((shard) => phonesOf(shard))).size
    for (const inside of [countInside, selectInside]) {
      const whole = { edgeTestCount: 1e9 }
      const found = inside(shards, shapes, whole, 'ContactLocation', true)
      const cost = 1e9 - whole.edgeTestCount
      const plain = { edgeTestCount: 1e9 }
      inside(shards, shapes, plain)
      t.ok(cost > 2 * (1e9 - plain.edgeTestCount), `${cost}`)
      for (const edgeTestCount of [cost - 1, cost / 2, 10]) {
        try {
          inside(shards, shapes, { edgeTestCount }, 'ContactLocation', true)
          t.fail('that is not enough')
        } catch (error) {
          t.ok(error instanceof BudgetSpent)
        }
      }
      t.same(inside(shards, shapes, { edgeTestCount: cost }, 'ContactLocation', true), found)
    }
    const counts = countInside(shards, shapes, { edgeTestCount: 1e9 }, 'ContactLocation', true)
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      differentCount,
    )
  },
)

t.test('where no phone repeats, it is the plain selection', async (t) => {
  const single = shardsOf(randomWorld('uniform', 900, random), 1, 300).map(attachShard)
  const plain = selectInside(single, shapes, { edgeTestCount: 1e9 })
  t.same(selectInside(single, shapes, { edgeTestCount: 1e9 }, 'ContactLocation', true), plain)
  t.same(
    [...countInside(single, shapes, { edgeTestCount: 1e9 }, 'ContactLocation', true)],
    [300, 300, 300],
  )
})

function phonesOf({ phones, phoneOffsets, recipientCount }: (typeof shards)[number]): string[] {
  return Array.from({ length: recipientCount }, (_, at) =>
    Buffer.from(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1])).toString(),
  )
}
