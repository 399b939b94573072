/**
 * How many audiences there may be, which go away, and which snapshots they hold.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  audienceUse,
  deleteAudience,
  newAudienceId,
  removeExpired,
  writeAudience,
} from '../../src/audiences/directory.js'
import { limits } from '../../src/limits.js'
import { audienceName } from '../../src/snapshot/retention/audience-names.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'

const HOUR_MS = 3_600_000
const nextHourMs = () => 1_000 * Math.ceil(Date.now() / 1_000) + HOUR_MS
const PARTS = [Buffer.from('anything')]

/** A file with the name of an audience. */
function put(data: string, snapshotId: string, expiresMs: number, byteLength = 8): string {
  mkdirSync(join(data, 'audiences'), { recursive: true })
  const { name } = audienceName(newAudienceId(), snapshotId, expiresMs)
  const path = join(data, 'audiences', name)
  writeFileSync(path, '')
  truncateSync(path, byteLength)
  return path
}

function write(data: string, snapshotId: string, parts: readonly Uint8Array[] = PARTS) {
  const expiresMs = nextHourMs()
  return writeAudience(data, { id: newAudienceId(), snapshotId, expiresMs }, parts)
}

t.test('as many as may be, and not one more', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  for (let i = 0; i < limits.audienceCount - 1; i++) put(data, snapshotId, nextHourMs())
  put(data, snapshotId, Date.now() - (Date.now() % 1_000))
  await write(data, snapshotId)
  t.match(await audienceUse(data, Date.now()), { count: limits.audienceCount })
  const refused = { code: 'TooManyAudiences', message: /256 audiences at a time: delete some/ }
  await t.rejects(write(data, snapshotId), refused)
  const names = readdirSync(join(data, 'audiences'))
  t.equal(names.length, limits.audienceCount, 'and nothing of it is left, nor of the expired one')
  t.ok(await deleteAudience(data, { name: names[0] }))
  t.notOk(await deleteAudience(data, { name: names[0] }))
  await write(data, snapshotId)
})

t.test('as many bytes as may be, and not one more', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const [part] = PARTS
  put(data, snapshotId, nextHourMs(), limits.audiencesBytes - 2 * part.length)
  await write(data, snapshotId)
  await write(data, snapshotId)
  t.match(await audienceUse(data, Date.now()), { count: 3, byteLength: limits.audiencesBytes })
  const refused = { code: 'TooManyAudiences', message: /bytes of audiences at a time/ }
  await t.rejects(write(data, snapshotId, [Buffer.from('x')]), refused)
})

t.test('of as many snapshots as may be, and not one more', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const other = await publishTest(data, 1, manyColumns(11))
  for (let i = 1; i < limits.audienceSnapshotCount; i++) {
    put(data, `${900_000 + i}-00000000`, nextHourMs())
  }
  put(data, '900000-00000000', Date.now() - (Date.now() % 1_000))
  await write(data, snapshotId)
  await write(data, snapshotId)
  const refused = { code: 'TooManyAudiences', message: /audiences of 16 snapshots at a time/ }
  await t.rejects(write(data, other), refused)
  t.equal(readdirSync(join(data, 'audiences')).length, limits.audienceSnapshotCount + 1)
})

t.test('what has expired goes, and what a crash left', async (t) => {
  const data = t.testdir({})
  t.equal(await removeExpired(data, Date.now()), 0, 'where there is no directory, nothing')
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const gone = put(data, snapshotId, 1_000)
  const stays = put(data, snapshotId, nextHourMs())
  const old = join(data, 'audiences', `${newAudienceId()}.tmp`)
  const young = join(data, 'audiences', `${newAudienceId()}.tmp`)
  for (const path of [old, young]) writeFileSync(path, 'half')
  const longAgo = (Date.now() - limits.audienceWriteMs) / 1_000 - 1
  utimesSync(old, longAgo, longAgo)
  t.equal(await removeExpired(data, Date.now()), 1)
  t.same([gone, stays, old, young].map(existsSync), [false, true, false, true])
})

t.test('a snapshot that is not on the disk is no snapshot to freeze', async (t) => {
  const data = t.testdir({})
  const gone = write(data, '000009-00000000')
  await t.rejects(gone, { code: 'Unavailable', message: /was removed from the disk/ })
  t.same(readdirSync(join(data, 'audiences')), [])
})

t.test('audiences hold their snapshots, until they expire or are deleted', async (t) => {
  const data = t.testdir({})
  const snapshots = () => readdirSync(join(data, 'snapshots')).sort()
  const first = await publishTest(data, 1, manyColumns(10))
  await write(data, first)
  const expired = await publishTest(data, 1, manyColumns(11))
  put(data, expired, 1_000)
  for (let i = 0; i < 5; i++) await publishTest(data, 1, manyColumns(12 + i))
  t.equal(snapshots().length, limits.snapshotCount + 1)
  t.ok(snapshots().includes(first))
  t.notOk(snapshots().includes(expired))
  for (const name of readdirSync(join(data, 'audiences'))) await deleteAudience(data, { name })
  await publishTest(data, 1, manyColumns(20))
  t.equal(snapshots().length, limits.snapshotCount)
  t.notOk(snapshots().includes(first))
})

t.test('a snapshot that a killed import was about to remove is there again', async (t) => {
  const data = t.testdir({})
  const first = await publishTest(data, 1, manyColumns(10))
  await publishTest(data, 1, manyColumns(11))
  await write(data, first)
  const path = join(data, 'snapshots', first)
  renameSync(path, `${path}.leaving`)
  for (let i = 0; i < 4; i++) await publishTest(data, 1, manyColumns(12 + i))
  t.ok(existsSync(path))
})
