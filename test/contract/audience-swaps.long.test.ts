/**
 * Audiences under many readers, over switches of snapshots and a restart.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { runAudiences } from '../support/audience-run.js'
import { testSeed } from '../support/random/properties.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const OPTIONS = {
  ...byTier({
    ci: { recipientCount: 30_000, repeatCount: 1 },
    soak: { recipientCount: 1_000_000, repeatCount: 7 },
  }),
  readerCount: 20,
  swapCount: 10,
}

t.test('twenty readers get the same, over ten switches and a restart', async (t) => {
  const options = { ...OPTIONS, seed: testSeed(t) }
  const found = await runAudiences(t, temporaryDirectory(t), options, (line) => t.comment(line))
  t.equal(found.contentDigests.length, OPTIONS.readerCount + 1)
  t.equal(new Set(found.contentDigests).size, 1)
  t.equal(found.digests.size, 1)
  t.equal(found.readRowCount, (OPTIONS.readerCount + 1) * OPTIONS.recipientCount)
  t.ok(found.repeatedPageCount > 0, 'some were reading when the service was killed')
  t.equal(found.snapshotCount, limits.snapshotCount + 1, 'the snapshot of the audience is held')
  const [few, , , all, each] = found.costs
  t.ok(few.recipientCount < OPTIONS.recipientCount / 300)
  t.equal(all.recipientCount, OPTIONS.recipientCount)
  t.ok(all.fileBytes < 8_192, 'everybody is a run a shard')
  t.ok(each.fileBytes < 8 * each.recipientCount, 'at most a run for each of whom')
})
