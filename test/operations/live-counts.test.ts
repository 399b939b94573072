/**
 * Contexts are live: their counts are those that a recipient request gives now.
 *
 * @module
 */

import t, { type Test } from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Area, MapContext } from '../../src/interface/context.js'
import { limits } from '../../src/limits.js'
import { contextOperations, contextReader } from '../../src/operations/contexts.js'
import { startLiveCounts } from '../../src/operations/live-counts.js'
import { recipientOperations } from '../../src/operations/selections.js'
import { type Access, OPEN_ACCESS } from '../../src/selection/access.js'
import type { SelectionService } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import type { CountMode } from '../../src/shard/select.js'
import type { Store } from '../../src/store/store.js'
import { createProgress, publishApplied } from '../../src/suppressions/progress.js'
import { silentLog, squareGeometry, temporaryStore } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { always } from '../support/service/current.js'
import { inTime, within } from '../support/service/in-time.js'
import { type LocalService, localService } from '../support/service/local-service.js'
import { until } from '../support/service/until.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'

/** A square that is seen from the corner of the worlds of these tests. */
const drawn = (lng: number, lat: number, size: number) => squareGeometry(lng - 71, lat + 42, size)

/** Recipients within one degree, one to three to a contact, in shards of a few of them. */
function world(seed: number, snapshotId: string, countMode: () => CountMode): LocalService {
  const service = localService(
    [
      { id: 1, label: 'A', columns: randomWorld('uniform', 600, seededRandom(seed)) },
      { id: 2, label: 'B', columns: randomWorld('grid', 300, seededRandom(seed + 1)) },
      { id: 9, label: 'C', columns: randomWorld('uniform', 1, seededRandom(seed + 2)) },
    ],
    100,
  )
  return { ...service, catalogue: { ...service.catalogue, snapshotId }, countMode }
}

interface Front {
  readonly service: SelectionService
  put(areas: object[], waitMs?: number): Promise<Area[]>
  get(waitMs?: number, access?: Access): Promise<Area[]>
  stop(): void
}

function startFront(t: Test, store: Store, service: SelectionService, retryMs = 0): Front {
  const { countRetryMs } = limits
  Object.assign(limits, { countRetryMs: retryMs })
  t.teardown(() => Object.assign(limits, { countRetryMs }))
  const counts = startLiveCounts({
    store,
    current: always(service),
    suppressionProgress: createProgress(),
    log: silentLog,
  })
  const { PutMapContextRequest: put, GetMapContextRequest: get } = contextOperations(
    store,
    contextReader(store, counts),
  )
  t.teardown(() => counts.stop())
  const run = async (
    execute: typeof get,
    request: Record<string, unknown>,
    waitMs: number,
    access = OPEN_ACCESS,
  ) => {
    const answer = await execute(request, { ...within(waitMs), access })
    const context: MapContext = JSON.parse(Buffer.from(answer?.json() as Uint8Array).toString())
    return context.Areas ?? []
  }
  return {
    service,
    put: (Areas, waitMs = limits.requestMs) => run(put, { Id: ID, Areas }, waitMs),
    get: (waitMs = limits.requestMs, access) => run(get, { Id: ID }, waitMs, access),
    stop: () => counts.stop(),
  }
}

/** What a recipient request counts of a shape. */
async function asked(
  service: SelectionService,
  geoJSON: unknown,
  access = OPEN_ACCESS,
): Promise<Area['Contacts']> {
  const { RecipientRequest } = recipientOperations(always(service))
  const answer = await RecipientRequest({ countsOnly: true, geoJSON }, { ...inTime(), access })
  const { SourceRecords } = JSON.parse(answer?.json() as string)
  return SourceRecords.map(({ Label, Count }: { Label: string; Count: number }) => ({
    Label,
    Count,
  }))
}

/** What is counted in the background needs turns of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

const flags = (area: Area) => [
  area.IsUpdatingContactList,
  area.HasContactCountError,
  area.HasInvalidShapeError,
]

t.test('counts equal those of recipient requests, in both modes and snapshots', async (t) => {
  const seed = testSeed(t)
  const random = seededRandom(seed)
  const store = await temporaryStore(t)
  const geometries = Array.from({ length: 20 }, () =>
    drawn(random.unit(), random.unit(), random.unit()),
  )
  const metres = squareGeometry(-7_890_000, 5_180_000, 50_000)
  const projected = { ...metres, spatialReference: { wkid: 102100 } }
  const shapes = [...geometries, projected]
  const areas = shapes.map((Geometry, i) => ({ Id: `a${i}`, Geometry }))
  let total = 0
  for (const snapshotId of ['000001-00000000', '000002-00000000']) {
    for (const mode of ['ContactLocation', 'Contact'] as const) {
      await store.change({ kind: 'configuration', json: '{}', countMode: mode })
      const front = startFront(
        t,
        store,
        world(seed + snapshotId.length, snapshotId, store.countMode),
      )
      if (total === 0) await front.put(areas)
      let counted = await front.get()
      while (counted.some(({ IsUpdatingContactList }) => IsUpdatingContactList)) {
        await turn()
        counted = await front.get()
      }
      for (const [i, area] of counted.entries()) {
        const expected = await asked(front.service, shapes[i])
        t.same(area.Contacts, expected, `area ${i}, ${mode}, ${snapshotId}`)
        const sum = (expected ?? []).reduce((total, { Count = 0 }) => total + Count, 0)
        t.equal(area.ContactTotalCount, sum)
        t.same(flags(area), [false, false, false])
        total += sum
      }
      front.stop()
    }
  }
  t.ok(total > 1_000)
})

t.test('counts that are out of date are served until there are new ones', async (t) => {
  const store = await temporaryStore(t)
  const Geometry = drawn(0, 0, 1)
  const first = startFront(t, store, world(1, '000001-00000000', store.countMode))
  const [before] = await first.put([{ Id: 'a', Geometry }])
  t.same(before.Contacts, await asked(first.service, Geometry))
  await until(() => store.counts(hashes(store))[0] !== undefined)
  first.stop()

  const second = startFront(t, store, world(5, '000002-00000000', store.countMode))
  const [stale] = await second.get()
  t.same(stale.Contacts, before.Contacts)
  t.equal(stale.ContactTotalCount, before.ContactTotalCount)
  t.same(flags(stale), [true, false, false])
  let [fresh] = await second.get()
  while (fresh.IsUpdatingContactList) {
    await turn()
    fresh = (await second.get())[0]
  }
  t.same(fresh.Contacts, await asked(second.service, Geometry))
  t.same(flags(fresh), [false, false, false])
  await until(() => store.counts(hashes(store))[0]?.snapshotId === '000002-00000000')

  await store.change({ kind: 'configuration', json: '{}', countMode: 'Contact' })
  const [otherMode] = await second.get()
  t.same(otherMode.Contacts, fresh.Contacts)
  t.same(flags(otherMode), [true, false, false])
})

function hashes(store: Store): string[] {
  return (store.context(ID)?.shapeHashes ?? []).filter((hash) => hash !== null)
}

t.test('what one front has counted, others and later ones do not count again', async (t) => {
  const store = await temporaryStore(t)
  const areas = [1, 2, 3].map((n) => ({ Id: `a${n}`, Geometry: drawn(n / 9, 0, 0.2) }))
  const first = startFront(t, store, world(1, '000001-00000000', store.countMode))
  const counted = await first.put(areas)
  await until(() => store.counts(hashes(store)).every((counts) => counts !== undefined))
  const other = world(1, '000001-00000000', store.countMode)
  t.same(await startFront(t, store, other).get(), counted)
  t.equal(other.tasks.length, 0)
})

t.test('an answer that is certain is kept, until something changes', async (t) => {
  const store = await temporaryStore(t)
  let readCount = 0
  const context: Store['context'] = (id) => {
    readCount++
    return store.context(id)
  }
  const service = world(1, '000001-00000000', store.countMode)
  const front = startFront(t, { ...store, context }, service)
  await front.put([{ Id: 'a', Geometry: drawn(0, 0, 1) }])
  t.equal(readCount, 0, 'a write answers what it wrote')
  const [area] = await front.get()
  t.same([readCount, service.tasks.length > 0], [0, true])
  await front.put([{ Id: 'b', Geometry: drawn(0, 0, 1) }])
  t.same((await front.get())[0], { ...area, Id: 'b' })
  t.equal(readCount, 0)
  await store.change({ kind: 'configuration', json: '{}', countMode: 'Contact' })
  await front.get()
  t.equal(readCount, 1)
})

t.test('a shape is counted once, however many areas and requests want it', async (t) => {
  const store = await temporaryStore(t)
  const service = world(1, '000001-00000000', store.countMode)
  const Geometry = drawn(0, 0, 1)
  const front = startFront(t, store, service)
  await front.put([{ Geometry }, { Geometry }])
  const taskCount = service.tasks.length
  t.ok(taskCount > 0)
  await store.change({ kind: 'configuration', json: '{}', countMode: 'Contact' })
  await Promise.all([front.get(), front.get(), front.get()])
  await until(() => store.counts(hashes(store))[0]?.countMode === 'Contact')
  const inModes = new Set(service.tasks.slice(taskCount).map((task) => JSON.stringify(task)))
  t.equal(service.tasks.length - taskCount, inModes.size)
})

t.test('counts of another boundary are never served', async (t) => {
  const store = await temporaryStore(t)
  let geometry: object | undefined = drawn(0, 0, 0.5)
  const plain = world(1, '000001-00000000', store.countMode)
  const service = { ...plain, boundaryRule: createBoundaryRule(() => geometry, true) }
  const Geometry = drawn(0, 0, 1)
  const unclipped = startFront(t, store, plain)
  const [everybody] = await unclipped.put([{ Id: 'a', Geometry }])
  await until(() => store.counts(hashes(store))[0] !== undefined)
  const front = startFront(t, store, service)
  const clipped = async () => {
    const [area] = await front.get()
    t.same(flags(area), [false, false, false])
    t.same(area.Contacts, await asked(service, Geometry))
    return area.ContactTotalCount ?? 0
  }
  const half = await clipped()
  t.ok(half > 0 && half < (everybody.ContactTotalCount ?? 0))
  await until(() => store.counts(hashes(store))[0]?.boundaryKey !== undefined)
  t.same(await unclipped.get(), [everybody], 'which others have counted meanwhile')
  geometry = drawn(0, 0, 0.25)
  t.ok((await clipped()) < half)
  geometry = undefined
  const [refused] = await front.get()
  t.same(flags(refused), [false, true, false])
  t.notOk('Contacts' in refused)
})

t.test('each key counts within its own boundary, on the same front', async (t) => {
  const store = await temporaryStore(t)
  const service = world(1, '000001-00000000', store.countMode)
  const Geometry = drawn(0, 0, 1)
  const front = startFront(t, store, service)
  const sizes = [undefined, 0.5, 0.25, undefined, 0.25, 0.5]
  const accesses = new Map(
    [...new Set(sizes)].map((size) => [
      size,
      { ...OPEN_ACCESS, boundary: size === undefined ? undefined : drawn(0, 0, size) },
    ]),
  )
  const [everybody] = await front.put([{ Id: 'a', Geometry }])
  const totals = new Map<number | undefined, number>()
  for (const size of sizes) {
    const access = accesses.get(size)
    const [area] = await front.get(limits.requestMs, access)
    t.same(flags(area), [false, false, false])
    t.same(area.Contacts, await asked(service, Geometry, access), `within ${size}`)
    const total = area.ContactTotalCount ?? 0
    t.equal(totals.get(size) ?? total, total)
    totals.set(size, total)
  }
  t.equal(new Set(totals.values()).size, 3)
  t.equal(totals.get(undefined), everybody.ContactTotalCount)
  await until(() => store.counts(hashes(store))[0] !== undefined)
  t.equal(store.counts(hashes(store))[0]?.boundaryKey, undefined, 'the store has those of all')
  const unreadable = { ...OPEN_ACCESS, boundary: { type: 'Polygon', coordinates: 0 } }
  await t.rejects(front.get(limits.requestMs, unreadable), { code: 'Forbidden', status: 403 })
})

t.test('an area without a shape has nobody', async (t) => {
  const store = await temporaryStore(t)
  const front = startFront(t, store, world(1, '000001-00000000', store.countMode))
  const areas = await front.put([
    { Id: 'a' },
    { Id: 'b', Geometry: null },
    { Id: 'c', Geometry: {} },
  ])
  const Contacts = ['A', 'B', 'C'].map((Label) => ({ Label, Count: 0 }))
  for (const area of areas) {
    t.match(area, { Contacts, ContactTotalCount: 0 })
    t.same(flags(area), [false, false, false])
  }
})

t.test('a shape that a recipient request would refuse is said to be invalid', async (t) => {
  const store = await temporaryStore(t)
  const service = world(1, '000001-00000000', store.countMode)
  const front = startFront(t, store, service)
  const [shell] = drawn(0, 0, 1).rings
  const invalid = [
    { type: 'polygon', rings: [[shell[0], shell[1]]] },
    { type: 'polygon', rings: [shell], spatialReference: { wkid: 2056 } },
    { type: 'polyline', rings: [shell] },
    {
      type: 'polygon',
      rings: [
        [
          [0, 0],
          [0, 91],
          [1, 0],
        ],
      ],
    },
    { type: 'polygon' },
  ]
  const areas = [...invalid, drawn(0, 0, 1)].map((Geometry, i) => ({
    Id: `${i}`,
    Geometry,
  }))
  for (const answered of [await front.put(areas), await front.get()]) {
    for (const area of answered.slice(0, -1)) {
      t.same(flags(area), [false, false, true], area.Id ?? '')
      t.notOk('Contacts' in area || 'ContactTotalCount' in area)
    }
    t.same(flags(answered[invalid.length]), [false, false, false])
    t.ok(answered[invalid.length].ContactTotalCount)
  }
  await until(() => store.counts(hashes(store)).every((counts) => counts !== undefined))
  t.same(
    store.counts(hashes(store)).map((counts) => counts?.contacts === undefined),
    [...invalid.map(() => true), false],
  )
})

/** A service whose runner can be told to fail or to wait. */
function fickle(service: LocalService) {
  const state = { fault: undefined as Error | undefined, wait: Promise.resolve(), runCount: 0 }
  const run: SelectionService['runner']['run'] = async (task, deadline) => {
    state.runCount++
    await state.wait
    if (state.fault !== undefined) throw state.fault
    return service.runner.run(task, deadline)
  }
  return { state, service: { ...service, runner: { run } } }
}

t.test('a count that fails is said, and tried again by a later request', async (t) => {
  const store = await temporaryStore(t)
  const { state, service } = fickle(world(1, '000001-00000000', store.countMode))
  const front = startFront(t, store, service)
  const Geometry = drawn(0, 0, 1)
  for (const fault of [
    new ServiceError('TooComplex', 'too much'),
    new ServiceError('Unavailable', 'not now'),
    new Error('a bug'),
  ]) {
    state.fault = fault
    const [area] = await front.put([{ Id: 'a', Geometry }])
    t.same(flags(area), [false, true, false])
    t.notOk('Contacts' in area || 'ContactTotalCount' in area)
  }
  state.fault = undefined
  const [area] = await front.get()
  t.same(flags(area), [false, false, false])
  t.same(area.Contacts, await asked(service, Geometry))
})

t.test('a count that fails leaves the last ones, and is not tried again at once', async (t) => {
  const store = await temporaryStore(t)
  const first = startFront(t, store, world(1, '000001-00000000', store.countMode))
  const [before] = await first.put([{ Id: 'a', Geometry: drawn(0, 0, 1) }])
  await until(() => store.counts(hashes(store))[0] !== undefined)

  const { state, service } = fickle(world(2, '000002-00000000', store.countMode))
  state.fault = new ServiceError('Overloaded', 'too much')
  const second = startFront(t, store, service, 1_000_000)
  let [area] = await second.get()
  t.same(flags(area), [true, false, false])
  while (area.IsUpdatingContactList) {
    await turn()
    area = (await second.get())[0]
  }
  for (let i = 0; i < 3; i++) {
    area = (await second.get())[0]
    t.same(flags(area), [false, true, false])
    t.same(area.Contacts, before.Contacts)
    t.equal(area.ContactTotalCount, before.ContactTotalCount)
  }
  const { runCount } = state
  await second.get()
  t.equal(state.runCount, runCount)
})

t.test('where the time runs out, an area is served without counts', async (t) => {
  const store = await temporaryStore(t)
  const { state, service } = fickle(world(1, '000001-00000000', store.countMode))
  let go: () => void = () => {}
  state.wait = new Promise((resolve) => {
    go = resolve
  })
  const front = startFront(t, store, service)
  const shapes = [drawn(0, 0, 1), drawn(0.5, 0, 1), drawn(0, 0.5, 1)]
  const areas = [{ Id: 'none' }, ...shapes.map((Geometry, i) => ({ Id: `${i}`, Geometry }))]
  const [none, ...waiting] = await front.put(areas, 20)
  t.same(flags(none), [false, false, false])
  for (const area of waiting) {
    t.same(flags(area), [true, false, false])
    t.notOk('Contacts' in area || 'ContactTotalCount' in area)
  }
  go()
  for (const [i, area] of (await front.get()).slice(1).entries()) {
    t.same(flags(area), [false, false, false])
    t.same(area.Contacts, await asked(service, shapes[i]))
  }
})

t.test('a few shapes are counted at a time', async (t) => {
  const store = await temporaryStore(t)
  const service = world(1, '000001-00000000', store.countMode)
  let running = 0
  let most = 0
  const run: SelectionService['runner']['run'] = async (task, deadline) => {
    most = Math.max(most, ++running)
    // Longer than it takes as many to begin as may.
    for (let i = 0; i < 4 * limits.shapesCountedCount; i++) await turn()
    running--
    return service.runner.run(task, deadline)
  }
  const small = { ...service, queryThreadCount: 1, runner: { run } }
  const areas = Array.from({ length: 50 }, (_, i) => ({ Geometry: drawn(i / 60, 0, 0.3) }))
  await startFront(t, store, small).put(areas)
  t.equal(most, limits.shapesCountedCount)
})

t.test('whoever waits is answered when counting is stopped, and nothing more begins', async (t) => {
  const store = await temporaryStore(t)
  const { state, service } = fickle(world(1, '000001-00000000', store.countMode))
  let go: () => void = () => {}
  state.wait = new Promise((resolve) => {
    go = resolve
  })
  const front = startFront(t, store, { ...service, queryThreadCount: 1 })
  const areas = Array.from({ length: 20 }, (_, i) => ({ Geometry: drawn(i / 30, 0, 0.3) }))
  const answered = front.put(areas)
  await until(() => state.runCount === limits.shapesCountedCount)
  front.stop()
  go()
  const errors = (await answered).filter(({ HasContactCountError }) => HasContactCountError)
  t.equal(errors.length, areas.length - limits.shapesCountedCount)
  t.equal(state.runCount, limits.shapesCountedCount)
})

t.test('counts that cannot be stored are answered all the same', async (t) => {
  const store = await temporaryStore(t)
  let refusedCount = 0
  const change: Store['change'] = (each) => {
    if (each.kind !== 'counts') return store.change(each)
    refusedCount++
    return Promise.reject(new ServiceError('Unavailable', 'full'))
  }
  const service = world(1, '000001-00000000', store.countMode)
  const front = startFront(t, { ...store, change }, service)
  const Geometry = drawn(0, 0, 1)
  const [area] = await front.put([{ Geometry }])
  t.same(area.Contacts, await asked(service, Geometry))
  await until(() => refusedCount > 0)
  t.same((await front.get())[0], area)
})

t.test(
  'counts from before a suppression are never served, whatever else is out of date',
  async (t) => {
    const store = await temporaryStore(t)
    const service = world(testSeed(t), '000001-00000000', () => 'ContactLocation')
    const suppressionProgress = createProgress()
    const shape = { hash: 'a'.repeat(32), geometry: drawn(0, 0, 1) }
    let isHeld = false
    let release = () => {}
    const runner: SelectionService['runner'] = {
      async run(task, caller) {
        if (isHeld) await new Promise<void>((resolve) => (release = resolve))
        return service.runner.run(task, caller)
      },
    }
    const counts = startLiveCounts({
      store,
      current: always({ ...service, runner }),
      suppressionProgress,
      log: silentLog,
    })
    t.teardown(() => counts.stop())
    const read = async (waitMs: number) => {
      const states = await counts.of([shape], counts.basis(OPEN_ACCESS), within(waitMs))
      return states.get(shape.hash)
    }
    t.match(await read(30_000), { isFresh: true })
    publishApplied(suppressionProgress, 1, false)
    t.match(await read(0), { isFresh: true }, 'a change that concerns nobody')
    isHeld = true
    publishApplied(suppressionProgress, 2, true)
    t.match(await read(0), { contacts: undefined, isFresh: false, isUpdating: true })
    isHeld = false
    release()
    t.match(await read(30_000), { isFresh: true, isUpdating: false })
  },
)
