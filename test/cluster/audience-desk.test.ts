/**
 * What a machine of a cluster does to have the files of audiences that others have frozen.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyAudiences } from '../../src/audiences/verify.js'
import { AudienceDesk } from '../../src/cluster/audience-desk.js'
import { digestOfFile } from '../../src/cluster/nats/cluster-files.js'
import { hasFilesOf } from '../../src/cluster/node-report.js'
import { limits } from '../../src/limits.js'
import { audienceName } from '../../src/snapshot/retention/audience-names.js'
import type { SharedAudience } from '../../src/store/audiences.js'
import { manyColumns } from '../support/data/columns.js'
import { frozenAudience, sharedAudience } from '../support/data/shared-audiences.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { until } from '../support/service/until.js'

/** A machine with audiences of two snapshots, and an empty one that gets files from it. */
async function world(t: Test) {
  const [from, data] = [t.testdir({ from: {}, data: {} })].flatMap((root) => [
    join(root, 'from'),
    join(root, 'data'),
  ])
  const first = await publishTest(from, 1, manyColumns(20))
  const older = await frozenAudience(from, { snapshotId: first, entrySequence: 7 })
  const second = await publishTest(from, 1, manyColumns(30))
  const newer = await frozenAudience(from, { snapshotId: second, count: 9, entrySequence: 9 })
  const files = new Map<string, string>()
  for (const [directory, names] of directoriesOf(from)) {
    for (const name of names) {
      const path = join(directory, name)
      files.set((await digestOfFile(path)).sha256, path)
    }
  }
  const clock = { nowMs: 0 }
  const got: string[] = []
  const coming = new Set<string>()
  let changeCount = 0
  let onGet = async (_: string) => {}
  const desk = new AudienceDesk({
    dataDirectory: data,
    async get({ sha256 }, path) {
      got.push(sha256)
      await onGet(sha256)
      const found = files.get(sha256)
      if (found === undefined) return false
      copyFileSync(found, path)
      return true
    },
    isComing: (snapshotId) => coming.has(snapshotId),
    onChange: () => changeCount++,
    nowMs: () => clock.nowMs,
    log: silentLog,
  })
  t.teardown(() => desk.stop())
  return {
    from,
    data,
    desk,
    older,
    newer,
    files,
    clock,
    got,
    coming,
    changeCount: () => changeCount,
    /** Comes before each file. */
    beforeGet(work: (sha256: string) => Promise<void>) {
      onGet = work
    },
    untilHere: (...audiences: readonly SharedAudience[]) =>
      until(() => {
        desk.look()
        return audiences.every(({ entrySequence }) => hasFilesOf(desk.files(), entrySequence))
      }),
  }
}

function directoriesOf(data: string): [directory: string, names: string[]][] {
  const snapshots = join(data, 'snapshots')
  const ids = readdirSync(snapshots).map((id) => join(snapshots, id))
  return [...ids, join(data, 'audiences')].map((path) => [path, readdirSync(path)])
}

const pathOf = (data: string, { id, snapshotId, expiresMs }: SharedAudience) =>
  join(data, 'audiences', audienceName(id, snapshotId, expiresMs).name)

const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

async function intactIds(data: string): Promise<string[]> {
  const states = await verifyAudiences(data, Date.now())
  return states.flatMap(({ id, fault }) => (fault === undefined ? id : []))
}

t.test('what others have is fetched with its snapshot, the oldest first', async (t) => {
  const { data, desk, older, newer, got, changeCount, untilHere } = await world(t)
  t.equal(desk.files(), undefined, 'nothing is told before anything is known')
  desk.know(9, [newer, older])
  t.same(desk.files(), { upTo: 9, lacking: [9, 7] })
  await untilHere(older, newer)
  t.same(desk.files(), { upTo: 9, lacking: [] })
  t.same((await intactIds(data)).sort(), [older.id, newer.id].sort())
  t.ok(got.indexOf(older.file.sha256) < got.indexOf(newer.file.sha256))
  t.equal(changeCount(), 2)
  t.equal(desk.pathOf(newer.file.sha256), pathOf(data, newer))
  t.equal(desk.pathOf('other'), undefined)
  const gotCount = got.length
  desk.know(11, [older, newer])
  t.same(desk.files(), { upTo: 11, lacking: [] })
  t.same(await desk.bring(older.id, false, 60_000), { isHere: true, reason: '' })
  t.equal(got.length, gotCount, 'and fetched once')
})

t.test('what is here already is not fetched', async (t) => {
  const { from, older, newer } = await world(t)
  const desk = new AudienceDesk({
    dataDirectory: from,
    get: () => Promise.reject(new Error('nothing is lacking')),
    isComing: () => false,
    onChange() {},
    nowMs: () => 0,
    log: silentLog,
  })
  desk.know(9, [older, newer])
  await until(() => desk.files()?.lacking.length === 0)
})

t.test('the one for which somebody waits comes before older ones', async (t) => {
  const { desk, older, newer, got, beforeGet, untilHere } = await world(t)
  let isHeld = true
  beforeGet(() => until(() => !isHeld))
  const oldest = { ...older, id: sharedAudience(1).id, entrySequence: 1 }
  desk.know(9, [oldest, older, newer])
  await until(() => got.length === 1)
  const brought = desk.bring(newer.id, false, 60_000)
  isHeld = false
  t.same(await brought, { isHere: true, reason: '' })
  t.same(desk.files()?.lacking, [7])
  await untilHere(older)
})

t.test('what nobody has is tried again after a while', async (t) => {
  const { data, desk, older, newer, files, clock, got, untilHere } = await world(t)
  const path = files.get(older.file.sha256) as string
  files.delete(older.file.sha256)
  desk.know(9, [older, newer])
  await untilHere(newer)
  t.same(desk.files(), { upTo: 9, lacking: [7] }, 'and keeps no other one')
  const gone = { isHere: false, reason: /^no machine that is there has the files of the audience/ }
  t.match(await desk.bring(older.id, false, 20), gone)
  const gotCount = got.length
  files.set(older.file.sha256, path)
  clock.nowMs += limits.fetchRetryMs - 1
  desk.look()
  t.match(await desk.bring(older.id, false, 20), gone)
  t.equal(got.length, gotCount, 'not at once')
  clock.nowMs += 1
  await untilHere(older)
  t.ok(existsSync(pathOf(data, older)))
  t.match(await desk.bring('unknown', false, 20), { isHere: false, reason: /not known/ })
})

t.test('a snapshot that comes anyway is not fetched twice', async (t) => {
  const { data, desk, newer, coming, clock, got } = await world(t)
  coming.add(newer.snapshotId)
  desk.know(9, [newer])
  const waiting = { isHere: false, reason: /is on its way to this machine/ }
  t.match(await desk.bring(newer.id, false, 50), waiting)
  t.same(got, [])
  coming.clear()
  clock.nowMs += limits.fetchRetryMs
  t.match(await desk.bring(newer.id, false, 60_000), { isHere: true })
  t.same(await intactIds(data), [newer.id])
})

t.test('one that is deleted leaves nothing, also while it is fetched', async (t) => {
  const { data, desk, older, newer, beforeGet, untilHere } = await world(t)
  desk.know(7, [older])
  await untilHere(older)
  desk.know(8, [])
  t.same(desk.files(), { upTo: 8, lacking: [] })
  await until(() => !existsSync(pathOf(data, older)))
  let hasBegun = false
  beforeGet(async (sha256) => {
    if (sha256 !== newer.file.sha256) return
    desk.know(10, [])
    hasBegun = true
  })
  desk.know(9, [newer])
  await until(() => hasBegun && readdirSync(join(data, 'audiences')).length === 0)
  t.equal(desk.pathOf(newer.file.sha256), undefined)
})

t.test('one that has expired is not fetched', async (t) => {
  const { desk, got } = await world(t)
  desk.know(9, [sharedAudience(3, { expiresMs: 1_000 })])
  t.same(desk.files(), { upTo: 9, lacking: [] })
  desk.look()
  t.same(got, [])
  t.same(desk.audiences(), [])
})

t.test('what somebody found damaged is fetched anew', async (t) => {
  const { data, desk, older, untilHere, clock, got } = await world(t)
  desk.know(9, [older])
  await untilHere(older)
  const shard = join(data, 'snapshots', older.snapshotId, '1-0000.shard')
  for (const path of [pathOf(data, older), shard]) {
    const intact = digestOf(path)
    flip(path)
    clock.nowMs += limits.fetchRetryMs
    t.match(await desk.bring(older.id, true, 60_000), { isHere: true })
    t.equal(digestOf(path), intact, path.slice(-12))
  }
  t.same(await intactIds(data), [older.id])
  // What is right by its digest does not become more so.
  const gotCount = got.length
  t.match(await desk.bring(older.id, true, 60_000), { isHere: true })
  t.equal(got.length, gotCount)
})

t.test('what has gone from the disk is fetched anew', async (t) => {
  const { data, desk, older, untilHere, changeCount } = await world(t)
  desk.know(9, [older])
  await untilHere(older)
  rmSync(pathOf(data, older))
  rmSync(join(data, 'snapshots', older.snapshotId), { recursive: true })
  const before = changeCount()
  t.match(await desk.bring(older.id, false, 60_000), { isHere: true })
  t.equal(changeCount(), before + 2, 'others were told that it was gone, and that it is back')
  t.same(await intactIds(data), [older.id])
})

t.test('a file that was cut off is no file', async (t) => {
  const { data, from, desk, older, untilHere } = await world(t)
  mkdirSync(join(data, 'audiences'), { recursive: true })
  const path = pathOf(data, older)
  writeFileSync(path, readFileSync(pathOf(from, older)).subarray(0, 100))
  desk.know(9, [older])
  await untilHere(older)
  t.equal(statSync(path).size, older.file.byteLength)
})

function flip(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] ^= 16
  // A link to it elsewhere stays as it is.
  rmSync(path)
  writeFileSync(path, bytes)
}
