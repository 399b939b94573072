/**
 * A directory that leaves its cluster: wherever that was interrupted, it can be finished, and until then nobody changes it.
 */
import { rmSync } from 'node:fs'
import t from 'tap'
import { leaveCluster } from '../../src/cluster/leave.js'
import { clusterDirectory } from '../../src/cluster/state-file.js'
import { endAgreedPart } from '../../src/journal/agreed-part.js'
import { journalDirectory } from '../../src/journal/files.js'
import { createStore } from '../../src/store/create.js'
import { storeEntries } from '../../src/store/entries.js'
import { makeSuppressions } from '../../src/store/suppress.js'
import { storeDirectory } from '../../src/store/tables.js'
import { openTablesToWrite } from '../../src/store/write-tables.js'
import { makeClustered } from '../support/data/clustered.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** One step after the other, as it is done. */
const steps = [
  (data: string) => endAgreedPart(journalDirectory(data)),
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
