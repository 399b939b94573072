/** Random changes through two services, with all that may happen meanwhile. */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'
import { runLiveModel } from './model/run.js'

const OPTIONS = byTier({
  ci: { changeCount: 4_000, peopleCount: 400, rowCount: 60 },
  soak: { changeCount: 200_000, peopleCount: 5_000, rowCount: 1_000 },
})

t.test('every answer is that of a plain map at its sequence', async (t) => {
  const totals = await runLiveModel(t, { ...OPTIONS, seed: testSeed(t) })
  t.ok(totals.changes >= OPTIONS.changeCount)
  t.ok(totals.answers > 100 && totals.pages > 50, JSON.stringify(totals))
})
