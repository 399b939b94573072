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
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { verifyAudiences } from '../../src/audiences/directory.js'
import { AudienceDesk } from '../../src/cluster/audience-desk.js'
import { hasFilesOf, type NodeReport } from '../../src/cluster/reports.js'
import { SnapshotFiles } from '../../src/cluster/snapshot-files.js'
import { digestOfFile, type FileDigest } from '../../src/cluster/verified-file.js'
import { limits } from '../../src/limits.js'
import { monotonicMs } from '../../src/monotonic.js'
import { audienceName } from '../../src/snapshot/retention/audience-names.js'
import type { SharedAudience } from '../../src/store/audiences.js'
import { manyColumns } from '../support/data/columns.js'
import { frozenAudience, sharedAudience } from '../support/data/shared-audiences.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { until } from '../support/service/until.js'

const RETRY_MS = 400

/** A machine `a` with nothing, and audiences of two snapshots of another one, which it gets files from. */
async function world(t: Test) {
  const { fetchRetryMs, audienceSpreadMs, audienceStoredMs } = limits
  Object.assign(limits, { fetchRetryMs: RETRY_MS })
  t.teardown(() => Object.assign(limits, { fetchRetryMs, audienceSpreadMs, audienceStoredMs }))
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
  const got: string[] = []
  const reports = new Map<string, Pick<NodeReport, 'incarnation' | 'audiences'>>()
  const state = {
    changeCount: 0,
    members: ['a'],
    /** Comes before each file. */
    onGet: async (_: string) => {},
    isKept: async () => false,
  }
  const exchange = {
    async get({ sha256 }: FileDigest, path: string) {
      got.push(sha256)
      await state.onGet(sha256)
      const found = files.get(sha256)
      if (found === undefined) throw new Error('no machine has it')
      copyFileSync(found, path)
    },
    put: async () => {},
    isKept: () => state.isKept(),
  }
  const deskOf = (dataDirectory: string) => {
    const snapshots = new SnapshotFiles({ dataDirectory, files: exchange, log: silentLog })
    const desk = new AudienceDesk({
      dataDirectory,
      name: 'a',
      members: () => state.members.map((name) => ({ name, incarnation: name, maxLagMs: 1 })),
      reports: { of: (name) => reports.get(name) as NodeReport | undefined },
      files: exchange,
      snapshots,
      onChange: () => state.changeCount++,
      log: silentLog,
    })
    t.teardown(() => desk.stop())
    return { desk, snapshots }
  }
  const { desk, snapshots } = deskOf(data)
  const bring = async ({ id }: Pick<SharedAudience, 'id'>, isDamaged: boolean, waitMs: number) =>
    await desk.bring(id, isDamaged, waitMs).then(
      () => 'here',
      ({ message }: Error) => message,
    )
  const untilKept = (spreadMs: number, storedMs: number) => {
    Object.assign(limits, { audienceSpreadMs: spreadMs, audienceStoredMs: storedMs })
    const { entrySequence, file } = older
    return desk.untilKept(entrySequence, file)
  }
  const untilHere = (...audiences: readonly SharedAudience[]) =>
    until(() => {
      desk.look()
      return audiences.every(({ entrySequence }) => hasFilesOf(desk.files(), entrySequence))
    })
  const more = { reports, state, deskOf, snapshots, bring, untilKept, untilHere }
  return { from, data, desk, older, newer, files, got, ...more }
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
  const { data, desk, older, newer, got, state, bring, untilHere } = await world(t)
  t.equal(desk.files(), undefined, 'nothing is told before anything is known')
  desk.know(9, [newer, older])
  t.same(desk.files(), { upTo: 9, lacking: [9, 7] })
  await untilHere(older, newer)
  t.same(desk.files(), { upTo: 9, lacking: [] })
  t.same((await intactIds(data)).sort(), [older.id, newer.id].sort())
  t.ok(got.indexOf(older.file.sha256) < got.indexOf(newer.file.sha256))
  t.equal(state.changeCount, 2)
  t.equal(desk.pathOf(newer.file.sha256), pathOf(data, newer))
  t.equal(desk.pathOf('other'), undefined)
  const gotCount = got.length
  desk.know(11, [older, newer])
  t.same(desk.files(), { upTo: 11, lacking: [] })
  t.same(await bring(older, false, 60_000), 'here')
  t.equal(got.length, gotCount, 'and fetched once')
})

t.test('what is here already is not fetched', async (t) => {
  const { from, older, newer, got, deskOf } = await world(t)
  const { desk } = deskOf(from)
  desk.know(9, [older, newer])
  await until(() => desk.files()?.lacking.length === 0)
  t.same(got, [])
})

t.test('the one for which somebody waits comes before older ones', async (t) => {
  const { desk, older, newer, got, state, bring, untilHere } = await world(t)
  let isHeld = true
  state.onGet = () => until(() => !isHeld)
  const oldest = { ...older, id: sharedAudience(1).id, entrySequence: 1 }
  desk.know(9, [oldest, older, newer])
  await until(() => got.length === 1)
  const brought = bring(newer, false, 60_000)
  isHeld = false
  t.same(await brought, 'here')
  await untilHere(older)
  t.ok(got.indexOf(newer.file.sha256) < got.lastIndexOf(older.file.sha256))
})

t.test('what nobody has is tried again after a while', async (t) => {
  const { data, desk, older, newer, files, state, bring, untilHere } = await world(t)
  const path = files.get(older.file.sha256) as string
  files.delete(older.file.sha256)
  const triedMs: number[] = []
  state.onGet = async (sha256) => {
    if (sha256 === older.file.sha256) triedMs.push(monotonicMs())
  }
  desk.know(9, [older, newer])
  await untilHere(newer)
  t.same(desk.files(), { upTo: 9, lacking: [7] }, 'and keeps no other one')
  t.match(await bring(older, false, 20), 'no machine has it')
  files.set(older.file.sha256, path)
  await untilHere(older)
  t.ok(triedMs[1] - triedMs[0] >= RETRY_MS, 'not at once')
  t.ok(existsSync(pathOf(data, older)))
  t.match(await bring({ id: 'unknown' }, false, 20), /not known/)
})

t.test('a snapshot that comes anyway is not fetched twice', async (t) => {
  const { data, desk, newer, got, snapshots, state, bring } = await world(t)
  let isHeld = true
  state.onGet = () => until(() => !isHeld)
  const coming = snapshots.fetch({ id: newer.snapshotId, documents: newer.documents })
  desk.know(9, [newer])
  t.match(await bring(newer, false, 50), /is on its way/)
  t.equal(got.length, 1)
  isHeld = false
  await coming
  await sleep(RETRY_MS)
  t.match(await bring(newer, false, 60_000), 'here')
  t.equal(got.length, new Set(got).size)
  t.same(await intactIds(data), [newer.id])
})

t.test('one that is deleted leaves nothing, also while it is fetched', async (t) => {
  const { data, desk, older, newer, state, untilHere } = await world(t)
  desk.know(7, [older])
  await untilHere(older)
  desk.know(8, [])
  t.same(desk.files(), { upTo: 8, lacking: [] })
  await until(() => !existsSync(pathOf(data, older)))
  let hasBegun = false
  state.onGet = async (sha256) => {
    if (sha256 !== newer.file.sha256) return
    desk.know(10, [])
    hasBegun = true
  }
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
  t.same(desk.awaited(), [])
})

t.test('what somebody found damaged is fetched anew', async (t) => {
  const { data, desk, older, untilHere, state, bring } = await world(t)
  desk.know(9, [older])
  await untilHere(older)
  const shard = join(data, 'snapshots', older.snapshotId, '1-0000.shard')
  for (const path of [pathOf(data, older), shard]) {
    const intact = digestOf(path)
    flip(path)
    await sleep(RETRY_MS)
    t.match(await bring(older, true, 60_000), 'here')
    t.equal(digestOf(path), intact, path.slice(-12))
  }
  t.same(await intactIds(data), [older.id])
  // What is right by its digest does not become more so.
  const { changeCount } = state
  t.match(await bring(older, true, 60_000), 'here')
  t.equal(state.changeCount, changeCount)
})

t.test('what has gone from the disk is fetched anew', async (t) => {
  const { data, desk, older, untilHere, state, bring } = await world(t)
  desk.know(9, [older])
  await untilHere(older)
  rmSync(pathOf(data, older))
  rmSync(join(data, 'snapshots', older.snapshotId), { recursive: true })
  const before = state.changeCount
  t.match(await bring(older, false, 60_000), 'here')
  t.equal(state.changeCount, before + 2, 'others were told that it was gone, and that it is back')
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

t.test('one stays although a machine is lost where most members have it', async (t) => {
  const { desk, older, state, reports, untilHere, untilKept } = await world(t)
  state.isKept = () => Promise.reject(new Error('not to be asked'))
  desk.know(9, [older])
  await untilHere(older)
  t.same(await untilKept(60_000, 50_000), { isKept: true, waitingFor: [] }, 'alone')
  const tell = (name: string, incarnation = name) =>
    reports.set(name, { incarnation, audiences: { upTo: 9, lacking: [] } })
  for (const members of ['abc', 'abcd']) {
    state.members = [...members]
    t.equal(desk.awaited().length, 1)
    const kept = untilKept(60_000, 50_000)
    tell('c')
    if (members === 'abcd') setTimeout(() => tell('d'), 50)
    t.same(await kept, { isKept: true, waitingFor: ['b'] }, members)
    tell('b')
    t.same(desk.awaited(), [], 'all have it')
    reports.clear()
  }
  for (const members of ['ab', '']) {
    state.members = [...members]
    // Of a machine whose place it took.
    tell('b', 'before')
    t.match(await untilKept(50, 60_000), { isKept: false, waitingFor: [...members.slice(1)] })
  }
})

t.test('after a while, the object store is enough', async (t) => {
  const { desk, older, state, untilHere, untilKept } = await world(t)
  desk.know(9, [older])
  await untilHere(older)
  state.members = ['a', 'b', 'c']
  t.same(await untilKept(50, 0), { isKept: false, waitingFor: ['b', 'c'] })
  const answers = [async () => false, () => Promise.reject(new Error('timeout')), async () => true]
  state.isKept = async () => (await answers.shift()?.()) ?? false
  t.same(await untilKept(60_000, 30), { isKept: true, waitingFor: ['b', 'c'] })
  t.equal(answers.length, 0)
})

function flip(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] ^= 16
  // A link to it elsewhere stays as it is.
  rmSync(path)
  writeFileSync(path, bytes)
}
