import t from 'tap'
import { limits } from '../../../src/limits.js'
import { listSources } from '../../../src/snapshot/load/open.js'
import { columnsOf, manyColumns } from '../../support/data/columns.js'
import { fingerprint, publishTest } from '../../support/data/snapshots.js'

t.test('a snapshot has sources up to the limit, and not one more', async (t) => {
  const data = t.testdir({})
  for (let id = 0; id < limits.sourceCount; id++) await publishTest(data, id, columnsOf([]))
  const before = fingerprint(data)
  await t.rejects(publishTest(data, limits.sourceCount, columnsOf([])), { code: 'Usage' })
  t.same(fingerprint(data), before)
  await publishTest(data, 5, manyColumns(1))
  t.equal((await listSources(data)).length, limits.sourceCount, 'one may be replaced')
})
