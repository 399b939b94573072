import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed, testWorlds } from '../support/random/properties.js'
import { kindsOfWorld } from '../support/random/requests.js'
import { byTier } from '../support/tier.js'

const WORLD_COUNT = byTier({ ci: 5, soak: 400 })

t.test('random requests of all kinds are answered as brute force does', async (t) => {
  const seed = testSeed(t)
  const worlds = testWorlds(WORLD_COUNT)
  const totals = noTotals()
  for (const world of worlds) {
    const wrong = await compareWorld(seed, world, kindsOfWorld(world), totals)
    for (const { request, faults } of wrong) {
      t.fail(`world ${world} of seed ${seed}: ${faults.join('; ')}: ${JSON.stringify(request)}`)
    }
  }
  const askedCount = worlds.length * REQUESTS_PER_WORLD
  const { requestCount, recipientCount, insideCount, eitherCount, tooComplexCount } = totals
  t.ok(requestCount > 0.9 * askedCount, `${requestCount} requests`)
  t.ok(tooComplexCount < 0.05 * askedCount, `${tooComplexCount} too complex`)
  t.ok(insideCount > recipientCount / 100, `${insideCount} of ${recipientCount} inside`)
  // One edge along a parallel may have a whole world of recipients on it, which few requests even out.
  const doubtMax = recipientCount / byTier({ ci: 20, soak: 200 })
  t.ok(eitherCount < doubtMax, `${eitherCount} too near to a limit to tell`)
})
