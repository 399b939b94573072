import t from 'tap'
import { compareWorld, noTotals, REQUESTS_PER_WORLD } from '../support/oracle-run.js'
import { testSeed } from '../support/properties.js'
import { type RequestKind, requestKinds } from '../support/requests.js'

/** `npm run test:long` does the same with fifty times as many. */
const REQUEST_COUNT = 2_000

/** Brute force is slow at these, so that only a tenth of the requests may have them. */
const slowKinds: readonly RequestKind[] = ['margin', 'capMargin', 'bufferedCollection']
const quickKinds = requestKinds.filter((kind) => !slowKinds.includes(kind))

t.test('random requests of all kinds are answered as brute force does', async (t) => {
  const seed = testSeed(t)
  const totals = noTotals()
  for (let world = 0; world < REQUEST_COUNT / REQUESTS_PER_WORLD; world++) {
    const kinds = world % 10 === 9 ? requestKinds : quickKinds
    const wrong = await compareWorld(seed, world, kinds, totals)
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
