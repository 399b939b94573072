/**
 * A snapshot that follows the journal: from where on, how far, and what becomes of what cannot be applied.
 *
 * @module
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Change } from '../../src/changes/change.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory, positionPath } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { AttachedSnapshot } from '../../src/live/attached-snapshot.js'
import type { Increment } from '../../src/shard/delta/increment.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { openedLive, type Person, SOURCE_IDS } from '../support/random/live-world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const [ID] = SOURCE_IDS
const person = (at: number): Person => ({
  key: `k${at}`,
  phone: `+999${at}`,
  contact: '',
  lng: at,
  lat: at,
})
const people = Array.from({ length: 20 }, (_, at) => person(at))

function deletes(...all: number[]): Change[] {
  return all.map((at) => ({ op: 'delete', identity: `k${at}` }))
}

function upsert(at: number): Change {
  const { phone, contact, lng, lat, key } = person(at)
  return { op: 'upsert', identity: key, phone, contact, lng, lat, key }
}

/** A snapshot of two sources with keys, and a journal that is written to directly. */
async function world(t: Test) {
  const data = temporaryDirectory(t)
  const { snapshot, close } = await openedLive(data, [people, people], [true, true])
  close()
  const writer = new JournalWriter({ directory: journalDirectory(data) })
  t.teardown(() => writer.release())
  let batchCount = 0
  const write = (changes: Change[], sourceId = ID) => {
    const batch = prepareBatch({ sourceId, batchId: `b${++batchCount}`, changes })
    return writer.append([batch])[0].sequence
  }
  return { data, snapshot, write }
}

interface Attached {
  readonly own: AttachedSnapshot
  readonly told: Increment[]
  readonly marked: Increment[]
  readonly happened: string[]
}

function attach(
  t: Test,
  dataDirectory: string,
  snapshot: Snapshot,
  bounds?: { changeCount: number; dueCount: number; dueMs: number },
): Attached {
  const [told, marked, happened]: [Increment[], Increment[], string[]] = [[], [], []]
  const own = new AttachedSnapshot({
    dataDirectory,
    snapshot,
    mark: async (_, increment) => {
      await new Promise((resolve) => setImmediate(resolve))
      marked.push(increment)
    },
    onTold: () => {},
    onFull: () => happened.push('full'),
    onDue: () => happened.push('due'),
    ...(bounds !== undefined && { bounds }),
  })
  t.teardown(() => own.close())
  own.listen((increments) => told.push(...increments))
  return { own, told, marked, happened }
}

const goneCount = (told: readonly Increment[]) =>
  told.flatMap(({ shards }) => shards).reduce((sum, { gone }) => sum + gone.recipients.length, 0)

t.test('it begins behind what is in the snapshot, and goes on', async (t) => {
  const { data, snapshot, write } = await world(t)
  write(deletes(0))
  write(deletes(1), SOURCE_IDS[1])
  write(deletes(2))
  const sources = snapshot.sources.map((source) => {
    return source.id === ID ? { ...source, appliedSequence: 2 } : { ...source, appliedSequence: 1 }
  })
  const { own, told, marked } = attach(t, data, { ...snapshot, sources })
  await own.open()
  t.equal(own.sequence, 3)
  t.equal(told.at(-1)?.moment, 2, 'counted from the least of them on')
  t.equal(goneCount(told), 2)
  own.follow((fault) => t.fail(String(fault)))
  write([upsert(30), upsert(31)])
  await until(() => own.sequence === 4)
  await until(() => told.at(-1)?.moment === 3)
  t.same(told, marked, 'whoever hears of them, they are marked')
  t.equal(told.at(-1)?.deltas[0].come.moments.length, 2)
  const late: Increment[] = []
  own.listen((increments) => late.push(...increments))
  t.equal(late.at(-1)?.moment, 3, 'who listens later hears of all')
  t.equal(goneCount(late), 2)
})

t.test('a journal that does not belong to the snapshot is refused', async (t) => {
  const { data, snapshot, write } = await world(t)
  for (let i = 0; i < 3; i++) write(deletes(i))
  const sources = snapshot.sources.map((source) => ({ ...source, appliedSequence: 4 }))
  const { own } = attach(t, data, { ...snapshot, sources })
  await t.rejects(own.open(), { code: 'JournalDamaged', message: /ends at batch 3, .* up to 4/ })
  // Its next batches would be taken for known by the source that was not imported since.
  const partly = snapshot.sources.map((source, at) => ({ ...source, appliedSequence: 4 * at }))
  const { own: mixed } = attach(t, data, { ...snapshot, sources: partly })
  t.equal(mixed.knownSequence, 4)
  await t.rejects(mixed.open(), { code: 'JournalDamaged', message: /ends at batch 3, .* up to 4/ })
  const level = snapshot.sources.map((source) => ({ ...source, appliedSequence: 3 }))
  const { own: other } = attach(t, data, { ...snapshot, sources: level })
  await other.open()
  t.equal(other.sequence, 3)
})

t.test(
  'what cannot be applied is tried again, and nothing behind it is said to be there',
  async (t) => {
    const { data, snapshot, write } = await world(t)
    write(deletes(1), SOURCE_IDS[1])
    write(deletes(2))
    write(deletes(3), SOURCE_IDS[1])
    // As an earlier version left it.
    rmSync(listOf(data, snapshot))
    const { own, told } = attach(t, data, snapshot)
    await own.open()
    const faults: string[] = []
    own.follow((fault) => faults.push(String(fault)))
    await until(() => faults.length > 0)
    t.match(faults[0], /does not say what recipients of source 7 are known by/)
    t.equal(own.sequence, 0)
    t.same(told, [])
  },
)

t.test('so many come and go, and no more', async (t) => {
  const { data, snapshot, write } = await world(t)
  // Each change may let one come and one go.
  const bounds = { changeCount: 8, dueCount: 4, dueMs: 60_000 }
  write([...deletes(1, 2), upsert(40)])
  const { own, happened } = attach(t, data, snapshot, bounds)
  await own.open()
  t.same(happened, [])
  t.equal(own.changeCount, 3)
  t.equal(own.roomCount, 2)
  write([upsert(41), upsert(42)])
  await own.open()
  t.same(happened, ['due'])
  t.equal(own.sequence, 2, 'at the bound')
  write(deletes(5, 6))
  await own.open()
  t.same(happened, ['due', 'full'], 'one past it')
  t.equal(own.sequence, 2)
  t.equal(own.roomCount, 0)
})

t.test('a snapshot stays due where no more can come', async (t) => {
  const { data, snapshot, write } = await world(t)
  const { own, happened } = attach(t, data, snapshot, { changeCount: 8, dueCount: 4, dueMs: 20 })
  write([...deletes(1, 2), upsert(40), upsert(41)])
  write(deletes(3, 4, 5, 6))
  await own.open()
  own.follow((fault) => t.fail(String(fault)))
  await until(() => happened.includes('full'))
  happened.length = 0
  await until(() => happened.length > 2)
  t.same(new Set(happened), new Set(['due']))
})

t.test('a source that is emptied counts with all its recipients', async (t) => {
  const { data, snapshot, write } = await world(t)
  write([{ op: 'clear' }])
  const { own, happened } = attach(t, data, snapshot, {
    changeCount: 21,
    dueCount: 100,
    dueMs: 60_000,
  })
  await own.open()
  t.same(happened, ['full'])
  const { own: larger, told } = attach(t, data, snapshot, {
    changeCount: 22,
    dueCount: 100,
    dueMs: 60_000,
  })
  await larger.open()
  t.equal(larger.sequence, 1)
  t.equal(goneCount(told), 20)
  t.equal(larger.changeCount, 20)
})

t.test('tables are built ahead where changes came before, for all sources', async (t) => {
  const { data, snapshot, write } = await world(t)
  write(deletes(0))
  const { own } = attach(t, data, snapshot)
  await own.open()
  own.follow((fault) => t.fail(String(fault)))
  await own.prepare()
  // Nothing of it is read any more.
  rmSync(listOf(data, snapshot))
  write(deletes(1), SOURCE_IDS[1])
  await until(() => own.sequence === 2)
})

t.test('where there never was a change, no tables are built', async (t) => {
  const { data, snapshot, write } = await world(t)
  const { own } = attach(t, data, snapshot)
  await own.open()
  const faults: string[] = []
  own.follow((fault) => faults.push(String(fault)))
  await own.prepare()
  const list = listOf(data, snapshot)
  renameSync(list, `${list}.away`)
  write(deletes(1))
  await until(() => faults.length > 0)
  t.equal(own.sequence, 0)
  renameSync(`${list}.away`, list)
  const { own: later } = attach(t, data, snapshot)
  await later.open()
  t.equal(later.sequence, 1)
})

t.test('tables that cannot be built ahead are built with a change', async (t) => {
  const { data, snapshot, write } = await world(t)
  write(deletes(0))
  const { own } = attach(t, data, snapshot)
  await own.open()
  const directory = join(data, 'snapshots', snapshot.id)
  renameSync(directory, `${directory}-away`)
  await own.prepare()
  renameSync(`${directory}-away`, directory)
  own.follow((fault) => t.fail(String(fault)))
  write(deletes(1), SOURCE_IDS[1])
  await until(() => own.sequence === 2)
})

t.test(
  'in a source without contacts, those who come with one share it with each other alone',
  async (t) => {
    const { data, snapshot, write } = await world(t)
    const { own, told } = attach(t, data, snapshot)
    // Two of one contact, and two without, one of whom has the phone of somebody who is there.
    const come = (at: number, contact: string, phone: string) =>
      ({ ...upsert(at), contact, phone }) as Change
    write([
      come(30, 'c', '+99930'),
      come(31, 'c', '+99931'),
      come(32, '', '+9995'),
      come(33, '', '+99933'),
    ])
    await own.open()
    const [{ shards, deltas }] = told.slice(-1)
    const [first, second, third, fourth] = deltas[0].come.contactIds
    t.equal(first, second)
    t.equal(new Set([first, third, fourth]).size, 3)
    t.same(
      shards
        .filter(({ byContact }) => byContact.ids.length > 0)
        .map(({ byContact }) => [...byContact.ids]),
      [[third]],
    )
  },
)

t.test('it closes while tables are built', async (t) => {
  const { data, snapshot, write } = await world(t)
  write(deletes(0))
  const { own } = attach(t, data, snapshot)
  await own.open()
  const prepared = own.prepare()
  await own.close()
  await prepared
})

const listOf = (data: string, { id }: Snapshot) => join(data, 'snapshots', id, 'identities.json')

t.test('while the journal cannot be read, its end is the last one known', async (t) => {
  const { data, snapshot, write } = await world(t)
  write(deletes(0))
  const { own } = attach(t, data, snapshot)
  await own.open()
  const ends: number[] = []
  // As the thread of changes does, whenever it is told of a fault.
  own.follow(() => ends.push(own.journalSequence))
  const path = positionPath(journalDirectory(data))
  renameSync(path, `${path}.away`)
  await until(() => ends.length > 0)
  t.equal(ends[0], 1)
  renameSync(`${path}.away`, path)
  write(deletes(1))
  await until(() => own.sequence === 2)
  t.equal(own.journalSequence, 2)
})
