import t from 'tap'
import { testSeed, testWorlds } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'
import { noTotals, runWorld } from './run-world.js'
import { transformationNames } from './transformations/transformations.js'

const WORLD_COUNT = byTier({ ci: 3, soak: 1_000 })

t.test('what is written in another way selects the same, and nothing widens', async (t) => {
  const seed = testSeed(t)
  const totals = noTotals()
  for (const world of testWorlds(WORLD_COUNT)) {
    t.same(runWorld(seed, world, totals), [], `world ${world}`)
  }
  for (const name of transformationNames) t.ok(totals[name].askedCount > 0, name)
})
