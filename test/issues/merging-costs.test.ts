import t from 'tap'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import { attachShard } from '../../src/shard/layout.js'
import { countInside } from '../../src/shard/select.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

/**
 * 10,000 polygons within all limits took a worker for ten seconds: their runs were merged one by
 * one, and no budget was charged for it.
 */
t.test('runs that are carried along count against the budget of a request', async (t) => {
  const columns = randomWorld('uniform', 2_000, seededRandom(1))
  const shards = shardsOf(columns, 1, 2_000).map(attachShard)
  // A triangle around each recipient: as good as no test of an edge, but a run each.
  const triangles = Array.from(columns.lngs, (lng, row) => {
    const at = [lng / 1e7, columns.lats[row] / 1e7]
    const corner = (x: number, y: number) => [at[0] + x / 1e7, at[1] + y / 1e7]
    return [[corner(-1, -1), corner(1, -1), corner(0, 1)]]
  })
  const spent = (count: number) => {
    const budget = { edgeTestCount: 1e9 }
    countInside(shards, including(polygonsOf(triangles.slice(0, count))), budget)
    return 1e9 - budget.edgeTestCount
  }
  t.ok(spent(2_000) < 2.5 * spent(1_000), 'twice the polygons cost about twice as much')
  t.ok(spent(2_000) > 2_000 * 64, 'each run is charged')
  try {
    countInside(shards, including(polygonsOf(triangles)), { edgeTestCount: 2_000 * 64 })
    t.fail('the budget is too small for these runs')
  } catch (error) {
    t.ok(error instanceof BudgetSpent)
  }
})
