import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'
import { describeFinding, describeReport } from './findings.js'
import { fuzz } from './fuzz.js'
import { growthFault } from './verdict.js'
import { publishWorld } from './world.js'

const REQUEST_COUNT = byTier({ ci: 5_000, soak: 100_000 })

t.test('what no client should send harms nobody', async (t) => {
  const seed = testSeed(t)
  const data = temporaryDirectory(t)
  const world = await publishWorld(data)
  const service = await serve(t, '--data', data)
  const report = await fuzz({ service, world, seed, requestCount: REQUEST_COUNT })
  t.comment(describeReport(report))
  t.same(report.findings.map(describeFinding), [])
  t.equal(growthFault(report), undefined)
  const { outcomes } = report
  t.ok(outcomes['200'] > report.sentCount / 10, 'many are still valid')
  t.ok(outcomes['400'] > report.sentCount / 10, 'and many are not')
  t.equal((await service.stop()).code, 0)
})
