/**
 * Which snapshot a machine announces, what it makes current, and when it has all machines switch.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Entry, encodeEntry } from '../../src/cluster/entries.js'
import { Facts, NO_FACTS } from '../../src/cluster/facts.js'
import { SnapshotDesk } from '../../src/cluster/snapshot-desk.js'
import { announcedSnapshot, SnapshotFiles } from '../../src/cluster/snapshot-files.js'
import { DigestFault, type FileDigest, isWhole } from '../../src/cluster/verified-file.js'
import { limits } from '../../src/limits.js'
import { monotonicMs } from '../../src/monotonic.js'
import { listSnapshots, readCurrent } from '../../src/snapshot/directory.js'
import { beginSnapshot } from '../../src/snapshot/publish/begin.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const NO_RETENTION = { importCount: 100, unneededSequence: 0 }

/** A machine `b` with two snapshots, of a cluster that has switched to the first one, unless the machine founds it. */
async function machine(t: Test, isFounder = false) {
  const data = temporaryDirectory(t)
  const first = await publishTest(data, 1, manyColumns(10))
  const second = await publishTest(data, 1, manyColumns(20))
  const name = (id: string) => writeFileSync(join(data, 'CURRENT'), `${id}\n`)
  name(first)
  const facts = new Facts(NO_FACTS, monotonicMs)
  const entries: Entry[] = []
  const hear = (entry: Entry) => {
    facts.note(facts.sequence + 1, encodeEntry(entry))
    return facts.sequence
  }
  const announce = async (id: string, base?: string, by = 'a') => {
    const snapshot = await announcedSnapshot(data, id)
    hear({ kind: 'snapshot', by, ...snapshot, ...(base !== undefined && { base }) })
  }
  if (!isFounder) {
    await announce(first)
    hear({ kind: 'switch', id: first, ...NO_RETENTION })
  }
  const state = {
    /** What comes of the log before an entry of this machine. */
    before: async () => {},
    /** What comes behind it. */
    behind: async () => {},
    fate: 'read' as 'read' | 'unheard' | 'lost',
    there: ['a', 'b'],
    /** Whether the object store does. */
    takesFiles: true,
    refusedCount: 0,
    preparedId: undefined as string | undefined,
    servedId: first,
  }
  const wanted: (string | undefined)[] = []
  const put: string[] = []
  const files = {
    get: () => Promise.reject(new Error('no machine has it')),
    async put(path: string, file: FileDigest) {
      if (!state.takesFiles) {
        state.refusedCount++
        throw new Error('timeout')
      }
      if (!(await isWhole(path, file))) throw new DigestFault(file)
      put.push(basename(path))
    },
  }
  const desk = new SnapshotDesk({
    dataDirectory: data,
    name: 'b',
    journal: {
      facts,
      get last() {
        return { sequence: facts.sequence, hash: '' }
      },
      hasOldFiles: () => false,
      async removeUpTo() {},
    },
    snapshots: new SnapshotFiles({ dataDirectory: data, files, log: silentLog }),
    reports: () =>
      state.there.map((name) => {
        return { name, snapshotId: state.servedId, preparedId: state.preparedId }
      }),
    placement: () => undefined,
    async enter(entry) {
      if (entry.kind === 'snapshot') await state.before()
      entries.push(entry)
      if (state.fate === 'lost') return undefined
      const sequence = hear(entry)
      if (entry.kind === 'snapshot') await state.behind()
      return state.fate === 'read' ? sequence : undefined
    },
    served: () => ({ servedId: state.servedId, preparedId: state.preparedId }),
    stored: async () => 9,
    async keepFacts() {},
    onWanted: ({ wantedId }) => wanted.push(wantedId),
    onOtherServed: () => wanted.push('other'),
    log: silentLog,
  })
  t.teardown(() => desk.stop())
  const look = async () => {
    // One look at a time: another one follows the one that is under way.
    for (let count = 0; count < 4; count++) {
      desk.look()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const kinds = () =>
    entries.map((entry) => ('id' in entry ? `${entry.kind} ${entry.id}` : entry.kind))
  return {
    data,
    first,
    second,
    name,
    state,
    entries,
    kinds,
    look,
    wanted,
    put,
    desk,
    announce,
    hear,
  }
}

t.test('what a command makes current is announced, also an earlier one', async (t) => {
  const { data, first, second, name, state, entries, kinds, look, desk } = await machine(t)
  await look()
  t.same(kinds(), [])
  name(second)
  t.same(await desk.published(second), { kind: 'waiting' })
  await look()
  t.match(entries, [{ kind: 'snapshot', id: second, base: first, by: 'b' }])
  t.same(await desk.published(second), { kind: 'announced' })
  state.preparedId = second
  await look()
  t.same(kinds(), [`snapshot ${second}`, `switch ${second}`])
  name(first)
  t.same(await desk.published(first), { kind: 'waiting' })
  await look()
  t.match(entries.slice(2), [{ kind: 'snapshot', id: first, base: second }, { kind: 'switch' }])
  t.same(await desk.published(first), { kind: 'announced' })
  t.equal(await readCurrent(data), first)
})

t.test('a snapshot is announced when NATS has its files', async (t) => {
  const { fetchRetryMs } = limits
  const retryMs = 1_000
  Object.assign(limits, { fetchRetryMs: retryMs })
  t.teardown(() => Object.assign(limits, { fetchRetryMs }))
  const { data, second, name, state, kinds, look, put, desk } = await machine(t)
  await look()
  state.takesFiles = false
  name(second)
  await look()
  t.same(kinds(), [])
  t.equal(state.refusedCount, 1, 'changes that come meanwhile are no reason to try again')
  t.same(await desk.published(second), { kind: 'waiting' })
  state.takesFiles = true
  await sleep(retryMs)
  await look()
  t.same(kinds(), [`snapshot ${second}`])
  t.same(new Set(put), new Set(readdirSync(join(data, 'snapshots', second))))
})

t.test('a snapshot is not announced with other documents than those that NATS has', async (t) => {
  const { fetchRetryMs } = limits
  Object.assign(limits, { fetchRetryMs: 1 })
  t.teardown(() => Object.assign(limits, { fetchRetryMs }))
  const { data, second, name, state, kinds, look, put } = await machine(t)
  await look()
  state.takesFiles = false
  name(second)
  await look()
  const path = join(data, 'snapshots', second, 'manifest.json')
  const bytes = readFileSync(path)
  bytes[bytes.length - 2] ^= 1
  const file = openSync(path, 'r+')
  writeSync(file, bytes)
  closeSync(file)
  state.takesFiles = true
  await look()
  t.same(kinds(), [])
  t.notOk(put.includes('manifest.json'))
})

t.test('one that NATS does not take keeps machines from no other one', async (t) => {
  const { data, second, name, state, kinds, look } = await machine(t)
  await look()
  name(second)
  await look()
  state.takesFiles = false
  await publishTest(data, 1, manyColumns(30))
  await look()
  state.preparedId = second
  await look()
  t.same(kinds(), [`snapshot ${second}`, `switch ${second}`])
})

t.test('what was made while the service was off is not announced', async (t) => {
  const { data, first, second, name, kinds, look, desk } = await machine(t)
  name(second)
  await look()
  t.same(kinds(), [])
  t.equal(await readCurrent(data), first)
  t.same(await desk.published(second), { kind: 'waiting' })
  t.ok((await listSnapshots(data)).includes(second), 'it may be an older one of all machines')
})

t.test('one that another machine has replaced meanwhile is refused, and removed', async (t) => {
  const { data, first, second, state, kinds, look, desk, announce } = await machine(t)
  await look()
  const third = await publishTest(data, 1, manyColumns(30))
  state.before = () => announce(second, first)
  await look()
  t.same(kinds(), [`snapshot ${third}`])
  t.same(await desk.published(third), { kind: 'refused', by: 'a' })
  t.equal(await readCurrent(data), first)
  t.same(await listSnapshots(data), [first, second])
})

t.test('nothing is announced that goes on from what was replaced before', async (t) => {
  const { data, first, second, look, kinds, desk, announce } = await machine(t)
  await look()
  await announce(second, first)
  const third = await publishTest(data, 1, manyColumns(30))
  await look()
  t.same(kinds(), [])
  t.same(await desk.published(third), { kind: 'refused', by: 'a' })
  t.notOk(existsSync(join(data, 'snapshots', third)))
})

t.test('what is refused stays where a command has gone back to it', async (t) => {
  const { snapshotMadeMs } = limits
  Object.assign(limits, { snapshotMadeMs: 0 })
  t.teardown(() => Object.assign(limits, { snapshotMadeMs }))
  const { data, first, second, look, desk, name, hear } = await machine(t)
  await look()
  name(second)
  hear({ kind: 'snapshot', id: '000009-01234567', base: first, by: 'a', documents: [] })
  await look()
  t.same(await desk.published(second), { kind: 'refused', by: 'a' })
  t.equal(await readCurrent(data), first)
  t.ok((await listSnapshots(data)).includes(second))
})

t.test('what may be in the log is sent again until that is known', async (t) => {
  const { second, name, state, kinds, look, desk } = await machine(t)
  await look()
  state.fate = 'lost'
  name(second)
  await look()
  t.ok(kinds().length > 1)
  t.same(await desk.published(second), { kind: 'waiting' })
  state.fate = 'read'
  await look()
  t.same(await desk.published(second), { kind: 'announced' })
})

t.test('it was announced, too, where others have gone on before this machine knew', async (t) => {
  const { first, second, name, state, kinds, look, desk, announce } = await machine(t)
  await look()
  state.fate = 'unheard'
  state.behind = () => announce(first, second)
  name(second)
  await look()
  t.same(kinds(), [`snapshot ${second}`])
  t.same(await desk.published(second), { kind: 'announced' })
})

t.test('CURRENT stays as it is while an import is at work', async (t) => {
  const { data, first, second, hear, look, announce, kinds, desk } = await machine(t)
  await look()
  const third = await withDataLock(data, async (lock) => {
    const draft = await beginSnapshot(lock, { log: silentLog })
    await draft.put({ id: 1, label: 'x' }, manyColumns(30))
    await announce(second, first)
    hear({ kind: 'switch', id: second, ...NO_RETENTION })
    await look()
    t.equal(await readCurrent(data), first)
    return (await draft.publish()).snapshotId
  })
  await look()
  t.same(kinds(), [])
  t.same(await desk.published(third), { kind: 'refused', by: 'a' })
  t.equal(await readCurrent(data), second)
})

t.test('a machine that founds a cluster announces what it has', async (t) => {
  const { first, entries, desk } = await machine(t, true)
  desk.look()
  await desk.stop()
  t.match(entries, [
    { kind: 'snapshot', id: first, by: 'b' },
    { kind: 'switch', id: first },
  ])
  t.notOk('base' in entries[0])
})

t.test('machines switch when all have prepared it, or after a time', async (t) => {
  const { clusterSwitchMs } = limits
  t.teardown(() => Object.assign(limits, { clusterSwitchMs }))
  const cases = [
    { title: 'the one that announced it', by: 'b', isPrepared: true, switchMs: 60_000, is: true },
    { title: 'not before', by: 'b', isPrepared: false, switchMs: 60_000, is: false },
    { title: 'but after a time', by: 'b', isPrepared: false, switchMs: 0, is: true },
    { title: 'another one does not', by: 'a', isPrepared: true, switchMs: 60_000, is: false },
    { title: 'unless that does not either', by: 'a', isPrepared: false, switchMs: 0, is: true },
    { title: 'or is away', by: 'z', there: ['b', 'c'], isPrepared: true, is: true },
    { title: 'the first of them by name', by: 'z', there: ['a', 'b'], isPrepared: true, is: false },
  ]
  for (const { title, by, there, isPrepared, switchMs = 60_000, is } of cases) {
    Object.assign(limits, { clusterSwitchMs: switchMs })
    const { first, second, state, kinds, look, announce } = await machine(t)
    await look()
    if (there !== undefined) state.there = there
    if (isPrepared) state.preparedId = second
    await announce(second, first, by)
    await look()
    t.equal(kinds().includes(`switch ${second}`), is, title)
  }
})

t.test('what is not here is not to be prepared', async (t) => {
  const { first, look, wanted, hear } = await machine(t)
  await look()
  hear({ kind: 'snapshot', id: '000009-01234567', base: first, by: 'a', documents: [] })
  await look()
  t.same(wanted, [first])
})

t.test('a service that serves another one of the same id is to start again', async (t) => {
  const { data, first, second, wanted, look, hear, name, state } = await machine(t)
  name(second)
  state.servedId = second
  const { documents } = await announcedSnapshot(data, first)
  hear({ kind: 'snapshot', id: second, base: first, by: 'a', documents })
  await look()
  t.ok(wanted.includes('other'))
})
