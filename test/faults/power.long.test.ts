/**
 * A disk that loses its power keeps what was acknowledged. `npm run test:soak -- power` cuts it 200 times.
 */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'
import { losePower } from './power/run.js'

t.test(
  'everything acknowledged is there after the power went, and nothing needs a hand',
  async (t) => {
    const momentCount = byTier({ ci: 4, soak: 200 })
    const { faults, acknowledgedCounts, cutCounts } = await losePower(
      t,
      momentCount,
      seededRandom(testSeed(t)),
      (fault) => t.comment(fault),
    )
    t.comment(
      `acknowledged ${JSON.stringify(acknowledgedCounts)}, cut ${JSON.stringify(cutCounts)}`,
    )
    t.same(faults, [])
  },
)
