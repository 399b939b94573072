/**
 * When a writer has said that an entry is everywhere, no machine is level without it: with the whole agreement, and
 * whatever fails.
 */
import t from 'tap'
import { seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'
import { Levels } from './levels.js'
import { runWorld } from './run.js'
import { World } from './world.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const runCount = byTier({ ci: 3, soak: 500 })

for (const machineCount of [3, 5]) {
  t.test(`no machine of ${machineCount} is level without what is everywhere`, async (t) => {
    const counts = { everywhere: 0, withoutSome: 0, level: 0 }
    for (let run = 0; run < runCount; run++) {
      const { unit } = seededRandom(seed + run)
      const maxLagMs = [300, 1_000, 3_000, 10_000][Math.floor(4 * unit())]
      const levels = new Levels(maxLagMs, unit)
      const { companion, check } = levels
      const options = {
        seed: seed + run,
        machineCount,
        acks: 'majority',
        companion,
        check,
      } as const
      const world = new World(options)
      try {
        await runWorld(world, 60)
      } catch (fault) {
        t.fail(`seed ${seed + run}, at ${world.nowMs} ms: ${(fault as Error).message}`)
        if (t.counts.fail > 3) return
      }
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
        counts[name] += levels.counts[name]
      }
    }
    t.comment(JSON.stringify(counts))
    for (const [what, count] of Object.entries(counts)) t.ok(count > 0, `${what}: ${count}`)
  })
}
