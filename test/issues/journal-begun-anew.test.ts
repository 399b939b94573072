/**
 * A journal that was moved away from under a service was begun anew: batches were acknowledged with sequences
 * that answers had already, and so never came into them.
 *
 * @module
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import t from 'tap'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const batch = (batchId: string) =>
  prepareBatch({ sourceId: 1, batchId, changes: [{ op: 'delete', identity: 'a' }] })

t.test('a journal that ends before what is known is not written to', async (t) => {
  const directory = journalDirectory(temporaryDirectory(t))
  let knownSequence = 0
  const writer = new JournalWriter({ directory, leastSequence: () => knownSequence })
  t.teardown(() => writer.release())
  for (const id of ['b1', 'b2']) knownSequence = writer.append([batch(id)])[0].sequence
  renameSync(directory, `${directory}.away`)
  t.throws(() => writer.append([batch('b3')]), /another one than before/)
  await writer.release()
  const endsBefore = { code: 'JournalDamaged', message: /ends at batch 0, .* up to 2/ }
  t.throws(() => writer.prepare(), endsBefore)
  t.throws(() => writer.append([batch('b3')]), endsBefore)
  t.notOk(existsSync(directory), 'it can be put back')

  mkdirSync(directory)
  t.throws(() => writer.append([batch('b3')]), endsBefore, 'nor one that is empty')
  await writer.release()
  renameSync(directory, `${directory}.empty`)
  renameSync(`${directory}.away`, directory)
  t.equal(writer.append([batch('b3')])[0].sequence, 3)
  knownSequence = 3

  // As when all sources are imported again.
  await writer.release()
  renameSync(directory, `${directory}.away`)
  knownSequence = 0
  t.equal(writer.append([batch('b4')])[0].sequence, 1)
})
