import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed } from '../support/random/properties.js'
import { kindsOfWorld } from '../support/random/requests.js'
import { byTier } from '../support/tier.js'

/** `npm run test:long` does the same with a seed of your own, in several processes. */
const REQUEST_COUNT = byTier({ ci: 500, soak: 50_000 })

t.test('random requests of all kinds are answered as brute force does', async (t) => {
  const seed = testSeed(t)
  const totals = noTotals()
  for (let world = 0; world < REQUEST_COUNT / REQUESTS_PER_WORLD; world++) {
    const wrong = await compareWorld(seed, world, kindsOfWorld(world), totals)
    for (const { request, faults } of wrong) {
      t.fail(`world ${world} of seed ${seed}: ${faults.join('; ')}: ${JSON.stringify(request)}`)
    }
  }
  const { requestCount, recipientCount, insideCount, eitherCount, tooComplexCount } = totals
  t.ok(requestCount > 0.9 * REQUEST_COUNT, `${requestCount} requests`)
  t.ok(tooComplexCount < 0.05 * REQUEST_COUNT, `${tooComplexCount} too complex`)
  t.ok(insideCount > recipientCount / 100, `${insideCount} of ${recipientCount} inside`)
  // One edge along a parallel may have a whole world of recipients on it, which few requests even out.
  const doubtMax = recipientCount / byTier({ ci: 20, soak: 200 })
  t.ok(eitherCount < doubtMax, `${eitherCount} too near to a limit to tell`)
})
