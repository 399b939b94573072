import t from 'tap'
import { byTier } from '../../support/tier.js'
import { runWorld } from './run.js'
import { World } from './world.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const runCount = byTier({ ci: 7, soak: 1_000 })

for (const machineCount of [3, 5]) {
  t.test(`${machineCount} machines agree, whatever fails`, async (t) => {
    for (let run = 0; run < runCount; run++) {
      const world = new World({ seed: seed + run, machineCount, acks: 'majority' })
      try {
        await runWorld(world, 60)
      } catch (fault) {
        t.fail(`seed ${seed + run}: ${(fault as Error).message}`)
        t.comment((fault as Error).stack)
        if (t.counts.fail > 3) return
      }
    }
    t.pass()
  })
}
