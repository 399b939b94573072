import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { writeCurrent } from '../../../src/snapshot/directory.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { withDataLock } from '../../../src/snapshot/publish/lock.js'
import { columnsOf, manyColumns } from '../../support/data/columns.js'
import { fingerprint, publishTest } from '../../support/data/snapshots.js'

const snapshotPath = (data: string, id: string, file = '') => join(data, 'snapshots', id, file)

t.test('the same import twice gives byte-identical shard files', async (t) => {
  const data = t.testdir({})
  const ids = [
    await publishTest(data, 1, manyColumns(3_000)),
    await publishTest(data, 1, manyColumns(3_000)),
  ]
  const [first, second] = ids.map((id) => readFileSync(snapshotPath(data, id, '1-0000.shard')))
  t.ok(first.equals(second))
  t.equal(ids[0].slice(6), ids[1].slice(6), 'the digest in the id is the same')
  t.same(
    ids.map((id) => id.slice(0, 7)),
    ['000001-', '000002-'],
  )
})

t.test('replacing a source keeps the files of the others', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 9, manyColumns(100))
  const before = await publishTest(data, 1, manyColumns(100))
  const after = await publishTest(data, 1, manyColumns(50), 'Renamed')
  const inode = (id: string, file: string) => statSync(snapshotPath(data, id, file)).ino
  t.equal(inode(after, '9-0000.shard'), inode(before, '9-0000.shard'))
  t.not(inode(after, '1-0000.shard'), inode(before, '1-0000.shard'))
  t.same((await openSnapshot(data)).sources, [
    { id: 1, label: 'Renamed', recipientCount: 50, contactCount: 50 },
    { id: 9, label: 'Source 9', recipientCount: 100, contactCount: 100 },
  ])
})

t.test('a source without recipients has no shard', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, columnsOf([]))
  const { sources, shards } = await openSnapshot(data)
  t.same(sources, [{ id: 1, label: 'Source 1', recipientCount: 0, contactCount: 0 }])
  t.same(shards, [])
})

t.test('files are for their owner alone, and nothing is left beside them', async (t) => {
  const data = join(t.testdir({}), 'new', 'data')
  const id = await publishTest(data, 1, manyColumns(10))
  const modes = Object.fromEntries(
    Object.entries(fingerprint(data)).map(([name, text]) => [name, text.split(' ')[1]]),
  )
  t.same(modes, {
    CURRENT: '600',
    snapshots: '700',
    [`snapshots/${id}`]: '700',
    [`snapshots/${id}/1-0000.shard`]: '600',
    [`snapshots/${id}/identities.json`]: '600',
    [`snapshots/${id}/manifest.json`]: '600',
    [`snapshots/${id}/origin.json`]: '600',
    [`snapshots/${id}/repeats`]: '600',
  })
  t.equal(statSync(data).mode & 0o777, 0o700)
})

t.test('the newest snapshots are kept, and what a crash left is removed', async (t) => {
  const data = t.testdir({ snapshots: { '7.tmp': { half: 'x' }, '000001-00000000.tmp': {} } })
  writeFileSync(join(data, 'CURRENT.tmp'), 'half')
  const ids: string[] = []
  for (let count = 0; count < limits.snapshotCount + 2; count++) {
    ids.push(await publishTest(data, 1, manyColumns(count + 1)))
  }
  t.same(readdirSync(join(data, 'snapshots')).sort(), ids.slice(-limits.snapshotCount))
  t.same(readdirSync(data).sort(), ['CURRENT', 'snapshots'])
  t.equal(readFileSync(join(data, 'CURRENT'), 'utf8'), `${ids.at(-1)}\n`)
})

t.test('a generation is never given twice, even if a snapshot was not made current', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(1))
  mkdirSync(snapshotPath(data, '000041-00000000'))
  t.match(await publishTest(data, 1, manyColumns(2)), /^000042-/)
})

t.test('a second import is told that the first is under way', async (t) => {
  const data = t.testdir({})
  await withDataLock(data, async () => {
    await t.rejects(publishTest(data, 1, manyColumns(1)), { code: 'Locked', exitCode: 6 })
  })
  t.notOk(existsSync(join(data, 'import.lock')), 'the lock is released')
  await publishTest(data, 1, manyColumns(1))
})

t.test(
  'damage in a source that would be carried over stops the import, not the service',
  async (t) => {
    const data = t.testdir({})
    const id = await publishTest(data, 1, manyColumns(100))
    const path = snapshotPath(data, id, '1-0000.shard')
    const bytes = readFileSync(path)
    bytes[5000] ^= 1
    writeFileSync(path, bytes)
    const before = fingerprint(data)
    await t.rejects(publishTest(data, 2, manyColumns(1)), {
      code: 'SnapshotCorrupt',
      message: /1-0000/,
    })
    t.same(fingerprint(data), before)
    await publishTest(data, 1, manyColumns(100))
    t.equal((await openSnapshot(data)).sources.length, 1, 'importing it again repairs it')
  },
)

t.test('where it cannot write it says so and leaves everything as it was', async (t) => {
  if (process.getuid?.() === 0) {
    const data = t.testdir({ snapshots: 'a file in the way' })
    await t.rejects(publishTest(data, 1, manyColumns(1)), { code: 'Failed', exitCode: 1 })
    return
  }
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(1))
  chmodSync(join(data, 'snapshots'), 0o500)
  const before = fingerprint(data)
  await t.rejects(publishTest(data, 1, manyColumns(2)), { code: 'Failed', exitCode: 1 })
  t.same(fingerprint(data), before)
  chmodSync(join(data, 'snapshots'), 0o700)
  rmSync(data, { recursive: true })
})

t.test('what somebody has gone back from stays as long as what is older', async (t) => {
  const data = t.testdir({})
  const ids: string[] = []
  for (const count of [1, 2, 3]) ids.push(await publishTest(data, 1, manyColumns(count)))
  await writeCurrent(data, ids[0])
  const next = await publishTest(data, 2, manyColumns(4))
  t.match(next, /^000004-/)
  t.same(readdirSync(join(data, 'snapshots')).sort(), [...ids, next])
  const last = await publishTest(data, 2, manyColumns(5))
  t.same(readdirSync(join(data, 'snapshots')).sort(), [...ids, next, last])
  const newest = await publishTest(data, 2, manyColumns(6))
  t.same(readdirSync(join(data, 'snapshots')).sort(), [next, last, newest])
})
