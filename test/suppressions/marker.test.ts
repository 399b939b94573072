/**
 * Marks follow the lists: a plain set of phones says at any time who is marked.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { attachShard } from '../../src/shard/layout.js'
import { isMarked, markedCount, marksBytes } from '../../src/shard/suppressed.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { ownName } from '../../src/store/services.js'
import { createStore, type MainStore } from '../../src/store/store.js'
import { type Scope, suppressionLogOf } from '../../src/store/suppressions.js'
import { META, openTables, storeDirectory } from '../../src/store/tables.js'
import { Marker } from '../../src/suppressions/marker.js'
import {
  appliedVersion,
  createProgress,
  effectiveVersion,
} from '../../src/suppressions/progress.js'
import { columnsOf } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const SOURCE_IDS = [1, 2, 5]

/** Few different phones, so that many recipients have the same. */
const randomPhone = (random: Random) => `+999${random.between(0, 60)}`

async function world(t: Test, random: Random) {
  const data = temporaryDirectory(t)
  const store = await createStore(data, silentLog)
  const tables = openTables(storeDirectory(data), 'write')
  t.teardown(async () => {
    await tables.close()
    await store.close()
  })
  const publish = async () => {
    for (const id of SOURCE_IDS) {
      const rows = Array.from({ length: random.between(1, 80) }, () => ({
        lng: random.between(0, 1_000),
        lat: random.between(0, 1_000),
        phone: randomPhone(random),
        contact: '',
      }))
      await publishTest(data, id, columnsOf(rows))
    }
    return openSnapshot(data)
  }
  return { data, store, tables, publish }
}

function attachNow(marker: Marker, snapshot: Snapshot): void {
  for (const _ of marker.attach(snapshot));
}

/** Compares every mark with what the lists say. */
function assertMarks(t: Test, snapshot: Snapshot, store: MainStore, what: string): void {
  for (const image of snapshot.shards) {
    const { phones, phoneOffsets, recipientCount, marks } = attachShard(image)
    if (marks === null) throw new Error('there is room for marks')
    const wrong: number[] = []
    let count = 0
    for (let i = 0; i < recipientCount; i++) {
      const phone = Buffer.from(phones.subarray(phoneOffsets[i], phoneOffsets[i + 1]))
      const isSuppressed = store.suppressions.find(phone.toString(), image.sourceId).length > 0
      if (isSuppressed) count++
      if (isMarked(marks, i) !== isSuppressed) wrong.push(i)
    }
    t.same(wrong, [], `${what}, source ${image.sourceId}`)
    t.equal(markedCount(marks), count)
  }
}

async function changeSome(store: MainStore, random: Random): Promise<void> {
  const scope: Scope = random.pick(['all', 1, 2, 5, 9])
  const phones = Array.from({ length: random.between(0, 6) }, () => randomPhone(random))
  const isRemoval = random.unit() < 0.45
  await store.suppress({ kind: 'suppressions', scope, phones, isRemoval })
}

t.test('whoever came since the snapshot is marked, too', async (t) => {
  const random = seededRandom(testSeed(t))
  const { store, tables, publish } = await world(t, random)
  const progress = createProgress()
  const marker = new Marker(tables, progress, ownName)
  const snapshot = await publish()
  attachNow(marker, snapshot)
  const marks = new Int32Array(new SharedArrayBuffer(marksBytes(100)))
  const come = (sourceId: number, ...phones: readonly string[]) => {
    const bytes = phones.map((phone) => Buffer.from(phone))
    const phoneEnds = new Uint32Array(phones.length)
    for (const [at, { length }] of bytes.entries()) {
      phoneEnds[at] = (at === 0 ? 0 : phoneEnds[at - 1]) + length
    }
    const news = { phones: Buffer.concat(bytes), phoneEnds, gone: new Uint32Array(0), marks }
    const deltas = [{ sourceId, ...news }]
    marker.change({ snapshotId: snapshot.id, shards: [], deltas })
  }
  const suppress = async (scope: Scope, phone: string, isRemoval = false) => {
    await store.suppress({ kind: 'suppressions', scope, phones: [phone], isRemoval })
    marker.catchUp()
  }
  const marked = () => [0, 1, 2, 3].filter((place) => isMarked(marks, place))
  come(2, '+999100', '+999200')
  t.same(marked(), [])
  await suppress(2, '+999200')
  t.same(marked(), [1])
  t.equal(effectiveVersion(progress), store.suppressions.version())
  await suppress(1, '+999100')
  t.same(marked(), [1], 'in another source')
  await suppress('all', '+999100')
  t.same(marked(), [0, 1])
  await suppress(2, '+999200', true)
  t.same(marked(), [0])
  come(2, '+999200', '+999100')
  t.same(marked(), [0, 3], 'who is on a list when they come')
  t.equal(marker.hitsOf(snapshot.id, 2, ['+999100']).recipientCount, 2)
})

t.test('after each change, those are marked who are on a list', async (t) => {
  const random = seededRandom(testSeed(t))
  const { store, tables, publish } = await world(t, random)
  await changeSome(store, random)
  const progress = createProgress()
  const marker = new Marker(tables, progress, ownName)
  const first = await publish()
  attachNow(marker, first)
  assertMarks(t, first, store, 'at the start')
  const second = await publish()
  const secondRound = byTier({ ci: 15, soak: 40 })
  for (let round = 0; round < 3 * secondRound; round++) {
    if (round === secondRound) attachNow(marker, second)
    const before = store.suppressions.version()
    await changeSome(store, random)
    const version = store.suppressions.version()
    t.same(marker.catchUp(), version === before ? undefined : { version, hasForeign: false })
    t.equal(appliedVersion(progress), version)
    assertMarks(t, first, store, `round ${round}`)
    if (round >= secondRound) assertMarks(t, second, store, `round ${round}, second`)
  }
  marker.detach(first.id)
  const marked = first.shards.map(({ marks }) => Array.from(marks ?? []))
  for (let round = 0; round < 10; round++) await changeSome(store, random)
  marker.catchUp()
  assertMarks(t, second, store, 'when the first is released')
  t.same(
    first.shards.map(({ marks }) => Array.from(marks ?? [])),
    marked,
    'whose memory is touched no more',
  )
})

t.test('what changes while a snapshot is being attached is marked in it', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < byTier({ ci: 4, soak: 15 }); round++) {
    const { store, tables, publish } = await world(t, random)
    for (let i = 0; i < 10; i++) await changeSome(store, random)
    const marker = new Marker(tables, createProgress(), ownName)
    const snapshot = await publish()
    for (const _ of marker.attach(snapshot)) {
      await changeSome(store, random)
      if (random.unit() < 0.7) marker.catchUp()
      if (random.unit() < 0.1) forgetLog(tables)
    }
    marker.catchUp()
    assertMarks(t, snapshot, store, `round ${round}`)
  }
})

function forgetLog(tables: ReturnType<typeof openTables>): void {
  tables.refresh()
  const state = suppressionLogOf(tables).state()
  const forgotten = { ...state, logStart: state.version + 1, loggedCount: 0 }
  tables.transact(() => tables.meta.put(META.suppressions, JSON.stringify(forgotten)))
  tables.transact(() => {
    for (const version of tables.suppressionLog.getKeys({})) tables.suppressionLog.remove(version)
  })
}

t.test('who is behind the log compares everything anew', async (t) => {
  const random = seededRandom(testSeed(t))
  const { store, tables, publish } = await world(t, random)
  const progress = createProgress()
  const marker = new Marker(tables, progress, ownName)
  const snapshot = await publish()
  attachNow(marker, snapshot)
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 5; i++) await changeSome(store, random)
    forgetLog(tables)
    const behind = appliedVersion(progress)
    const version = store.suppressions.version()
    const expected = behind === version ? undefined : { version, hasForeign: true }
    t.same(marker.catchUp(), expected)
    assertMarks(t, snapshot, store, `round ${round}`)
  }
})

t.test('a change that marks nobody leaves what was counted right', async (t) => {
  const random = seededRandom(testSeed(t))
  const { store, tables, publish } = await world(t, random)
  const progress = createProgress()
  const marker = new Marker(tables, progress, ownName)
  attachNow(marker, await publish())
  const change = async (scope: Scope, phone: string, isRemoval = false) => {
    await store.suppress({ kind: 'suppressions', scope, phones: [phone], isRemoval })
    marker.catchUp()
    return [appliedVersion(progress), effectiveVersion(progress)]
  }
  t.same(await change('all', '+123'), [1, 0])
  t.same(await change(77, '+9991'), [2, 0], 'a source that is not there')
  for (let n = 0; n <= 60; n++) await change('all', `+999${n}`)
  const [taken, effective] = await change(1, '+9991')
  t.same([taken, effectiveVersion(progress)], [64, effective])
  t.ok(effective > 2 && effective < 64)
  t.same(await change(1, '+9991', true), [65, effective], 'it is on the list of all sources, too')
  t.same(await change('all', '+9991', true).then(([version]) => version), 66)
})

t.test('what was counted in a snapshot before it was attached may be wrong', async (t) => {
  const random = seededRandom(testSeed(t))
  const { store, tables, publish } = await world(t, random)
  const progress = createProgress()
  const marker = new Marker(tables, progress, ownName)
  const first = await publish()
  attachNow(marker, first)
  const change = async (phone: string) => {
    await store.suppress({
      kind: 'suppressions',
      scope: 'all',
      phones: [phone],
      isRemoval: false,
    })
    marker.catchUp()
  }
  await change('+123')
  t.equal(effectiveVersion(progress), 0)
  const attaching = marker.attach(await publish())
  attaching.next()
  await change('+124')
  t.equal(effectiveVersion(progress), 0, 'nobody answers from it yet')
  for (const _ of attaching);
  t.same([appliedVersion(progress), effectiveVersion(progress)], [2, 2])
})

t.test('recipients with a phone are counted in a source, or in all', async (t) => {
  const data = temporaryDirectory(t)
  const store = await createStore(data, silentLog)
  const tables = openTables(storeDirectory(data), 'write')
  t.teardown(async () => {
    await tables.close()
    await store.close()
  })
  const row = (phone: string) => ({ lng: 1, lat: 1, phone, contact: '' })
  await publishTest(data, 1, columnsOf([row('+9991'), row('+9992'), row('+9991')]))
  await publishTest(data, 2, columnsOf([row('+9991'), row('+9993')]))
  const snapshot = await openSnapshot(data)
  const marker = new Marker(tables, createProgress(), ownName)
  attachNow(marker, snapshot)
  const count = (scope: Scope, ...phones: string[]) =>
    marker.hitsOf(snapshot.id, scope, phones).recipientCount
  t.equal(count('all', '+9991'), 3)
  t.equal(count('all', '+9991', '+9991', '+9993', '+9994'), 4)
  t.equal(count(1, '+9991', '+9993'), 2)
  t.equal(count(3, '+9991'), 0)
  t.equal(marker.hitsOf('another', 'all', ['+9991']).recipientCount, 0)
})
