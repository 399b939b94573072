/**
 * A directory that leaves its cluster: wherever that was interrupted, it can be finished, and until then nobody changes it.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { clusterDirectory } from '../../src/cluster/directory.js'
import { leaveCluster } from '../../src/cluster/leave.js'
import { journalDirectory, journalPath } from '../../src/journal/files.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { openTablesToWrite } from '../../src/store/digests.js'
import { storeEntries } from '../../src/store/entries.js'
import { createStore } from '../../src/store/store.js'
import { makeSuppressions } from '../../src/store/suppressions.js'
import { storeDirectory } from '../../src/store/tables.js'
import { appendEach, makeClustered } from '../support/data/clustered.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** One step after the other, as it is done. */
const steps = [
  (data: string) => setJournalLog(journalDirectory(data), undefined),
  (data: string) => rmSync(clusterDirectory(data), { recursive: true }),
]

const change = {
  kind: 'suppressions',
  scope: 'all',
  phones: ['+9991'],
  isRemoval: false,
} as const

t.test('what was interrupted is finished', async (t) => {
  for (let doneCount = 0; doneCount <= steps.length; doneCount++) {
    const data = temporaryDirectory(t)
    await publishTest(data, 1, manyColumns(3))
    await makeClustered(data)
    const store = await createStore(data, silentLog)
    store.entries.apply([], 0)
    await store.close()
    for (const step of steps.slice(0, doneCount)) await step(data)
    await leaveCluster(data, silentLog)
    // Without the process that looks for damage first.
    const after = openTablesToWrite(storeDirectory(data))
    t.equal(storeEntries(after, silentLog).isClustered(), false, `after ${doneCount} steps`)
    t.match(makeSuppressions(after, [change], silentLog), [{ isMade: true }])
    await after.close()
    if (doneCount > 0) continue
    await t.rejects(leaveCluster(data, silentLog), { message: /is of no cluster/ })
  }
})

t.test('what the log did not say again is taken also after an interruption', async (t) => {
  const data = temporaryDirectory(t)
  const directory = journalDirectory(data)
  await makeClustered(data, [{ ...change, phones: ['+9991'] }])
  const store = await createStore(data, silentLog)
  store.entries.apply([], 0)
  await store.close()
  const before = temporaryDirectory(t)
  cpSync(directory, before, { recursive: true })
  const writer = new JournalWriter({ directory, isClustered: true })
  appendEach(writer, { ...change, phones: ['+9992'] })
  await writer.release()
  const bytes = readFileSync(journalPath(directory, 1))
  // As where the journal is of no cluster any more, and what is behind its head is still to be settled.
  rmSync(directory, { recursive: true })
  cpSync(before, directory, { recursive: true })
  await setJournalLog(directory, undefined)
  writeFileSync(journalPath(directory, 1), bytes)

  t.equal(await leaveCluster(data, silentLog), 2)
  const after = await createStore(data, silentLog)
  t.teardown(() => after.close())
  t.match(after.suppressions.lists(), [{ count: 2 }])
})

t.test('a store of a cluster is changed by entries alone', async (t) => {
  const store = await createStore(temporaryDirectory(t), silentLog)
  t.teardown(() => store.close())
  store.entries.apply([], 0)
  const refused = { isMade: false, code: 'Unavailable', message: /machine of a cluster/ }
  t.match(store.makeSuppressions([change]), [refused])
  t.match(store.makeChange({ kind: 'deleteContext', id: '0'.repeat(32) }), refused)
  t.throws(() => store.keys.change(() => new Map([['a', '{}']])), { code: 'Unavailable' })
  t.equal(store.keys.read().records.size, 0)
})
