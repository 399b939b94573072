/**
 * Recipients that no machine holds all of: three machines answer as one does, byte for byte, also when one of them is gone.
 */
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { compare, startRegions } from './compare.js'

t.setTimeout(300_000)

t.test('three machines that hold two thirds each answer as one that holds all', async (t) => {
  const seed = testSeed(t)
  const preload = new URL('../../faults/preload.js', import.meta.url).href
  const importArgs = ['--import', preload]
  const regions = await startRegions(t, { recipientCount: 20_000, seed, importArgs })
  const all = await compare(regions, { requestCount: 300, seed })
  t.same(all.faults, [])
  t.ok(all.answeredCount > 200, `${all.answeredCount} were answered`)
  const [first, second, third] = regions.machines
  await third.stop('SIGKILL')
  const left = await compare(
    { ...regions, machines: [first, second] },
    { requestCount: 150, seed: seed + 1 },
  )
  t.same(left.faults, [], 'with a machine killed')
})
