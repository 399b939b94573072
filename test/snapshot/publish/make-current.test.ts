import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCurrent, snapshotsDirectory } from '../../../src/snapshot/directory.js'
import { makeCurrent } from '../../../src/snapshot/publish/make-current.js'
import { syncedPaths } from '../../support/data/synced-paths.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

t.test('a snapshot has its name on disk before it is current', async (t) => {
  const data = temporaryDirectory(t)
  const snapshots = snapshotsDirectory(data)
  const draft = join(snapshots, 'draft.tmp')
  mkdirSync(draft, { recursive: true })
  const synced = await syncedPaths(t)
  await makeCurrent(data, draft, '000001-00000000')
  t.equal(await readCurrent(data), '000001-00000000')
  const [first, ...others] = synced
  t.equal(first, snapshots)
  t.ok(others.some((path) => path.startsWith(join(data, 'CURRENT'))))
  t.equal(others.at(-1), data)
})
