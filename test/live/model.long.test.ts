/** Random changes through two services, with all that may happen meanwhile; `npm run test:live` has more of them. */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { runLiveModel } from './model/run.js'

t.test('every answer is that of a plain map at its sequence', async (t) => {
  const options = { changeCount: 8_000, seed: testSeed(t), peopleCount: 400, rowCount: 60 }
  const totals = await runLiveModel(t, options)
  t.ok(totals.changes >= 8_000)
  t.ok(totals.answers > 100 && totals.pages > 50, JSON.stringify(totals))
})
