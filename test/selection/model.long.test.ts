import t from 'tap'
import { noModelTotals, runModel } from '../support/model-run.js'
import { testSeed } from '../support/random/properties.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 300, soak: 3_000 })

t.test(
  'imports, suppressions, restarts and requests agree with a map and brute force',
  async (t) => {
    const totals = noModelTotals()
    const wrong = await runModel(temporaryDirectory(t), testSeed(t), ROUND_COUNT, totals)
    t.same(wrong, [])
    t.comment(JSON.stringify(totals))
    t.ok(totals.requestCount > 2 * ROUND_COUNT, `${totals.requestCount} requests`)
    t.ok(totals.pageCount > totals.requestCount, `${totals.pageCount} pages`)
    t.ok(totals.insideCount > totals.requestCount, `${totals.insideCount} inside`)
    t.ok(totals.distinctCount > 5, `${totals.distinctCount} with each number once`)
    t.ok(totals.suppressedCount > totals.requestCount, 'numbers are suppressed meanwhile')
    for (const [action, count] of Object.entries(totals.actions)) t.ok(count > 0, action)
  },
)
