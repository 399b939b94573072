/** Random changes through two services, with all that may happen meanwhile. */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'
import { runLiveModel } from './model/run.js'

t.test('every answer is that of a plain map at its sequence', async (t) => {
  const changeCount = byTier({ ci: 4_000, soak: 40_000 })
  const options = { changeCount, seed: testSeed(t), peopleCount: 400, rowCount: 60 }
  const totals = await runLiveModel(t, options)
  t.ok(totals.changes >= changeCount)
  t.ok(totals.answers > 100 && totals.pages > 50, JSON.stringify(totals))
})
