import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed } from '../support/properties.js'
import { kindsOfWorld } from '../support/requests.js'

/** `npm run test:long` does the same with fifty times as many. */
const REQUEST_COUNT = 2_000

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
  t.ok(eitherCount < recipientCount / 1_000, `${eitherCount} too near to a limit to tell`)
})
