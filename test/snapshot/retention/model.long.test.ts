import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { actions } from '../../support/retention-run.js'
import { runSequences } from '../../support/retention-sequences.js'
import { byTier } from '../../support/tier.js'

const sequenceCount = byTier({ ci: 100, soak: 1_000 })
/** Kills and suppressions take a process or a store of their own, so that few sequences have one. */
const extent = { sequenceCount, rareEvery: 20, processCount: 2 }

t.test(
  'what is current passed or was forced, and one rollback brings back what was good',
  async (t) => {
    const seed = testSeed(t)
    const { sequenceCount: doneCount, tally, faults } = await runSequences({ seed, ...extent })
    t.comment([...tally].map(([action, count]) => `${action} ${count}`).join(', '))
    t.same(faults, [])
    t.equal(doneCount, sequenceCount)
    t.ok(tally.size > actions.length / 2, 'of many kinds')
  },
)
