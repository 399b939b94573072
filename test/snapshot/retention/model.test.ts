import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'
import { type Action, actions, RetentionRun } from '../../support/retention-run.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'

/** Kills and suppressions take a process or a store of their own, so that few sequences have one. */
const { sequenceCount, rareEvery } = byTier({
  short: { sequenceCount: 30, rareEvery: 10 },
  long: { sequenceCount: 1_000, rareEvery: 20 },
})

t.test(
  'what is current passed or was forced, and one rollback brings back what was good',
  async (t) => {
    const seed = testSeed(t)
    const tally = new Map<Action, number>()
    for (let sequence = 0; sequence < sequenceCount; sequence++) {
      const random = seededRandom(seed + sequence)
      const directory = temporaryDirectory(t)
      const run = new RetentionRun(directory, random)
      const done: Action[] = []
      const act = async (action: Action) => {
        done.push(action)
        tally.set(action, (tally.get(action) ?? 0) + 1)
        await run.act(action)
      }
      try {
        const length = random.between(2, 7)
        for (let at = 0; at < length; at++) await act(random.pick(actions))
        if (sequence % rareEvery === 0) {
          await act(random.pick(['killed', 'suppress', 'killed']))
          await act(random.pick(actions))
        }
        await run.rollBack(directory)
      } catch (error) {
        const { message } = error as Error
        t.fail(`sequence ${sequence} of seed ${seed}: ${done.join(', ')}: ${message}`)
        return
      }
    }
    t.comment([...tally].map(([action, count]) => `${action} ${count}`).join(', '))
    t.ok(tally.size > actions.length / 2, 'of many kinds')
  },
)
