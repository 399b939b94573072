/**
 * Nobody beyond the boundary is counted or listed, in any mode.
 *
 * @module
 */
import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed } from '../support/random/properties.js'
import { kindsOfWorld } from '../support/random/requests.js'
import { byTier } from '../support/tier.js'

const REQUEST_COUNT = byTier({ ci: 300, soak: 10_000 })

t.test('random requests under random boundaries are answered as brute force does', async (t) => {
  const seed = testSeed(t)
  const totals = noTotals()
  for (let world = 0; world < REQUEST_COUNT / REQUESTS_PER_WORLD; world++) {
    const wrong = await compareWorld(seed, world, kindsOfWorld(world), totals, true)
    for (const { request, faults } of wrong) {
      t.fail(`world ${world} of seed ${seed}: ${faults.join('; ')}: ${JSON.stringify(request)}`)
    }
  }
  const { requestCount, recipientCount, insideCount } = totals
  t.ok(requestCount > 0.9 * REQUEST_COUNT, `${requestCount} requests`)
  t.ok(
    insideCount > recipientCount / byTier({ ci: 2_000, soak: 50 }),
    `${insideCount} of ${recipientCount} inside`,
  )
})
