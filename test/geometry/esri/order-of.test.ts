import t from 'tap'
import { orderOf } from '../../../src/geometry/esri/order-of.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'

t.test('the order is that of a stable sort, whatever the number of keys', async (t) => {
  const random = seededRandom(testSeed(t))
  const counts = [0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 64, 65, 1_000]
  for (const count of [...counts, ...counts.map(() => random.between(0, 500))]) {
    const range = random.pick([1, 5, 1e9])
    const keys = Float64Array.from({ length: count }, () => random.between(-range, range) / 8)
    const expected = Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b])
    t.same([...orderOf(keys)], expected, `${count}`)
  }
})
