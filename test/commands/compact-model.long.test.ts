/**
 * Batches, imports and compactions in a random order, against a map of everybody.
 */
import { join } from 'node:path'
import t from 'tap'
import { journalDirectory } from '../../src/journal/files.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { limits } from '../../src/limits.js'
import { listSnapshots } from '../../src/snapshot/directory.js'
import { ChangingWorld } from '../support/data/changing-world.js'
import { peopleIn, peopleInSnapshot } from '../support/data/people.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const STEP_COUNT = byTier({ ci: 20, soak: 120 })
t.test('nothing is lost or doubled by compactions between batches and imports', async (t) => {
  // So that some compactions take several snapshots.
  const { compactionHeldCount } = limits
  Object.assign(limits, { compactionHeldCount: 25 })
  t.teardown(() => Object.assign(limits, { compactionHeldCount }))
  const world = new ChangingWorld(join(temporaryDirectory(t), 'data'), seededRandom(testSeed(t)))
  await world.begin()
  for (let step = 0; step < STEP_COUNT; step++) {
    const what = await world.step()
    t.same(await peopleIn(world.data), world.people, `${step}: ${what}`)
    if (what === 'compaction') {
      t.same(await peopleInSnapshot(world.data), world.people, 'the snapshot has all of it')
    }
    for (const id of await listSnapshots(world.data)) await peopleIn(world.data, id)
  }
  // An import that lost many was forced, so that the last good one would stay.
  await hickoryHere('accept', '--quiet', '--data', world.data)
  // The first one leaves what it replaced, which may be an import of one source.
  for (let round = 0; round < 2; round++) {
    await world.append()
    t.same(await world.compact('--keep', '1'), 0)
  }
  t.same(await peopleIn(world.data), world.people)
  const { firstSequence, batchCount } = await verifyJournal(journalDirectory(world.data))
  t.ok(firstSequence > 1, `the journal begins with ${firstSequence}`)
  t.equal(batchCount, world.batchCount - firstSequence + 1)
  await world.sendAgain(t)
})
