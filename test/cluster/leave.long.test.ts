/**
 * A directory that has left its cluster halfway is not served.
 */
import t from 'tap'
import { createStore } from '../../src/store/create.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'

t.test('a store that is still of a cluster refuses the start', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(3))
  const store = await createStore(data, silentLog)
  store.entries.apply([], 0)
  await store.close()
  const { code, stderr } = await hickory('serve', '--data', data, '--port', '0')
  t.match({ code, stderr }, { code: 2, stderr: /is still that of a machine of a cluster/ })
})
