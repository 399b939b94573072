/**
 * When a writer has said that an entry is everywhere, no machine is level without it.
 */
import fc from 'fast-check'
import t from 'tap'
import { byTier } from '../support/tier.js'
import { ALL, type Clock, LevelWorld, type Step } from './support/level-world.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const clock: fc.Arbitrary<Clock> = fc.record({
  offsetMs: fc.integer({ min: 1, max: 1_000_000 }),
  rate: fc.oneof(fc.constantFrom(1, 1.099), fc.double({ min: 1, max: 1.099, noNaN: true })),
})

function stepsOf(machineCount: number): fc.Arbitrary<Step> {
  const at = fc.nat({ max: machineCount - 1 })
  const bits = fc.nat({ max: 2 ** machineCount - 1 })
  const some = fc.oneof({ weight: 3, arbitrary: fc.constant(ALL) }, { weight: 1, arbitrary: bits })
  const which = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const msTo = (max: number) => fc.integer({ min: Math.ceil(max / 2), max })
  const ms = fc.oneof(msTo(40), msTo(400), msTo(1_200))
  const kind = <K extends Step['kind']>(...kinds: K[]) => fc.constantFrom(...kinds)
  const weighted: [weight: number, step: fc.Arbitrary<Step>][] = [
    [8, fc.record({ kind: kind('pass'), ms })],
    [3, fc.record({ kind: kind('split'), some: fc.oneof(fc.constant(ALL), bits, bits) })],
    [10, fc.record({ kind: kind('exchange'), from: some, to: some })],
    [2, fc.record({ kind: kind('report'), at })],
    [5, fc.record({ kind: kind('deliver'), which })],
    [1, fc.record({ kind: kind('lose', 'repeat'), which })],
    [8, fc.record({ kind: kind('append', 'wait', 'look') })],
    [6, fc.record({ kind: kind('apply'), some })],
    [2, fc.record({ kind: kind('campaign'), at, voters: some })],
    [1, fc.record({ kind: kind('vote', 'restart'), at })],
  ]
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

/** The first machine writes, and all are level. */
const beginning: readonly Step[] = [
  { kind: 'campaign', at: 0, voters: ALL },
  { kind: 'exchange', from: ALL, to: ALL },
  { kind: 'exchange', from: ALL, to: ALL },
  { kind: 'apply', some: ALL },
  { kind: 'exchange', from: ALL, to: ALL },
]

for (const machineCount of [3, 5]) {
  t.test(`no machine of ${machineCount} is level without what is everywhere`, async (t) => {
    const counts = { level: 0, everywhere: 0, withoutSilent: 0, writers: 0 }
    const clocks = fc.array(clock, { minLength: machineCount, maxLength: machineCount })
    const steps = fc.array(stepsOf(machineCount), { minLength: 10, maxLength: 100, size: 'max' })
    await fc.assert(
      fc.asyncProperty(clocks, steps, async (clocks, steps) => {
        const world = new LevelWorld(clocks)
        for (const step of [...beginning, ...steps]) await world.do(step)
        for (const name of Object.keys(counts) as (keyof typeof counts)[]) {
          counts[name] += world.counts[name]
        }
      }),
      { seed, numRuns: byTier({ ci: 400, soak: 50_000 }) },
    )
    t.comment(JSON.stringify(counts))
    for (const [what, count] of Object.entries(counts)) t.ok(count > 0, `${what}: ${count}`)
  })
}
