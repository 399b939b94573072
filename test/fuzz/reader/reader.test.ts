import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'
import { describeReport, fuzzReaders } from './fuzz.js'

const BODY_COUNT = byTier({ ci: 700, soak: 200_000 })

t.test('a body that is read the short way becomes what the long way makes of it', async (t) => {
  const report = fuzzReaders(testSeed(t), BODY_COUNT)
  t.comment(describeReport(report))
  t.same(report.differences, [])
  t.ok(report.validCount > BODY_COUNT / 4, 'many are valid')
  t.ok(report.validCount < BODY_COUNT / 1.5, 'and many are not')
  t.ok(report.shortCount > BODY_COUNT / 5, 'and many are read the short way to their end')
})
