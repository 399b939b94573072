/**
 * Nobody beyond the boundary is counted or listed, in any mode.
 *
 * @module
 */
import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed, testWorlds } from '../support/random/properties.js'
import { kindsOfWorld } from '../support/random/requests.js'
import { byTier } from '../support/tier.js'

const WORLD_COUNT = byTier({ ci: 3, soak: 200 })

t.test('random requests under random boundaries are answered as brute force does', async (t) => {
  const seed = testSeed(t)
  const worlds = testWorlds(WORLD_COUNT)
  const totals = noTotals()
  for (const world of worlds) {
    const wrong = await compareWorld(seed, world, kindsOfWorld(world), totals, true)
    for (const { request, faults } of wrong) {
      t.fail(`world ${world} of seed ${seed}: ${faults.join('; ')}: ${JSON.stringify(request)}`)
    }
  }
  const { requestCount, recipientCount, insideCount } = totals
  t.ok(requestCount > 0.9 * worlds.length * REQUESTS_PER_WORLD, `${requestCount} requests`)
  t.ok(
    insideCount > recipientCount / byTier({ ci: 200, soak: 50 }),
    `${insideCount} of ${recipientCount} inside`,
  )
})
