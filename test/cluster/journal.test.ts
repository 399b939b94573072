/** The journal of a machine of a cluster: what it passes over, and what it cannot go on with. */
import { join } from 'node:path'
import t from 'tap'
import { NO_FACTS } from '../../src/cluster/facts.js'
import { ClusterJournal } from '../../src/cluster/journal.js'
import { prepareBatch, type SentBatch, sentBatch } from '../../src/journal/batch.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('only what no journal can hold is passed over', async (t) => {
  const directory = join(temporaryDirectory(t), 'journal')
  await setJournalLog(directory, { generation: '0123456789abcdef', place: 0 })
  const journal = new ClusterJournal({
    directory,
    known: NO_FACTS,
    onFailure: (reason) => t.fail(`${reason}`),
    onWritten() {},
    onOver: (fault) => t.fail(fault.message),
  })
  t.teardown(() => journal.close())
  const batch = sentBatch(prepareBatch({ sourceId: 1, batchId: '1', changes: [] }))
  const appended = (place: number, ...batches: SentBatch[]) =>
    journal.append({ place, timeMs: place, batches })

  t.same(await appended(1, { ...batch, batchId: '' }), [])
  t.same(await appended(2, { ...batch, batchId: 'x'.repeat(limits.journalBatchIdBytes + 1) }), [])
  // A machine that passed over this would have other batches than all others.
  const unreadable: SentBatch = {
    ...batch,
    get content(): Uint8Array {
      throw new RangeError('Array buffer allocation failed')
    },
  }
  await t.rejects(appended(3, unreadable), { message: 'Array buffer allocation failed' })
  t.equal(journal.logPlace, 2, 'it is read again by the next process')
  t.match(await appended(3, batch), [{ sequence: 1 }])
})
