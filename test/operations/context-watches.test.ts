/**
 * Who watches a context is told its counts at once, and then whenever they change.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Area } from '../../src/interface/context.js'
import { limits } from '../../src/limits.js'
import {
  type ContextWatches,
  startContextWatches,
  type WatchEvent,
  type Watcher,
} from '../../src/operations/context-watches.js'
import { noSuchContext, type ReadContext } from '../../src/operations/contexts.js'
import type { Basis } from '../../src/operations/live-counts.js'
import { type Access, OPEN_ACCESS } from '../../src/selection/access.js'
import { silentLog } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { until } from '../support/service/until.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const LOOK_MS = 5

/** Contexts of one area, with what is counted there at this moment. */
class Model {
  readonly counts = new Map([[ID, 1]])
  readonly changes = new Map([[ID, 0]])
  readonly flags: Partial<Area> = {}
  snapshotId = '000001-00000000'
  readCount = 0
  /** A read waits for so long, and answers what was true before. */
  readMs = () => 0
  fault: Error | undefined

  set(count: number, id = ID): void {
    this.counts.set(id, count)
    this.changes.set(id, (this.changes.get(id) ?? 0) + 1)
  }

  contextVersion = (id: string) => (this.counts.has(id) ? String(this.changes.get(id)) : undefined)

  basis = (): Basis => ({
    snapshotId: this.snapshotId,
    sequence: 0,
    countMode: 'ContactLocation',
    suppressionVersion: 0,
    boundaryKey: undefined,
  })

  read: ReadContext = async (id) => {
    this.readCount++
    if (this.fault !== undefined) throw this.fault
    const count = this.counts.get(id)
    const { snapshotId } = this
    const area = { Id: 'a', ContactTotalCount: count, IsUpdatingContactList: false, ...this.flags }
    const ms = this.readMs()
    if (ms > 0) await sleep(ms)
    if (count === undefined) throw noSuchContext()
    const json = Buffer.from(JSON.stringify({ Id: id, Areas: [area] }))
    return {
      headers: {},
      heldBytes: 0,
      json: () => json,
      csv: () => '',
      csvRecord: () => ({ header: '', row: '' }),
      records: () => [{ facts: () => ({ snapshotId }) }],
    }
  }
}

function start(
  t: Test,
  model: Model,
  bounds: Partial<Record<'watchMs' | 'watcherCount', number>> = {},
): ContextWatches {
  const { watchMs, watcherCount } = limits
  Object.assign(limits, { watchMs: LOOK_MS, ...bounds })
  t.teardown(() => Object.assign(limits, { watchMs, watcherCount }))
  const watches = startContextWatches({
    store: model,
    counts: model,
    read: model.read,
    log: silentLog,
  })
  t.teardown(() => watches.stop())
  return watches
}

class Listener implements Watcher {
  readonly events: WatchEvent[] = []
  endCount = 0
  isAllowed = true

  get totals(): (number | undefined)[] {
    return this.events.map(({ json }) => JSON.parse(json).Areas?.[0].ContactTotalCount)
  }

  tell(event: WatchEvent): void {
    this.events.push(event)
  }

  beat(): void {}

  mayGoOn(): boolean {
    return this.isAllowed
  }

  end(): void {
    this.endCount++
  }
}

/** Long enough for several looks. */
const looks = () => sleep(10 * LOOK_MS)

async function joined(watches: ContextWatches, access = OPEN_ACCESS, knownId?: string, id = ID) {
  const listener = new Listener()
  const leave = await watches.join(id, access, listener, knownId)
  return { listener, leave }
}

t.test('the state at once, then changes alone, counted once for all', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const all = await Promise.all(Array.from({ length: 50 }, () => joined(watches)))
  for (const { listener } of all) t.same(listener.totals, [1])
  t.equal(model.readCount, 1)
  await looks()
  t.equal(model.readCount, 1, 'what cannot have changed is not read')
  model.set(2)
  await until(() => all.every(({ listener }) => listener.events.length === 2))
  t.equal(model.readCount, 2)
  t.same(all[0].listener.totals, [1, 2])
  t.not(all[0].listener.events[0].id, all[0].listener.events[1].id)
  model.snapshotId = '000002-00000000'
  await until(() => model.readCount === 3)
  await looks()
  t.same(all[0].listener.totals, [1, 2], 'the same counts of another snapshot are no news')
  for (const { leave } of all) leave()
  t.equal(watches.watcherCount, 0)
  model.set(3)
  await looks()
  t.equal(model.readCount, 3, 'nobody watches, nothing is read')
  t.same(all[0].listener.totals, [1, 2])
})

t.test('whoever joins is told at once, and the others no more often than before', async (t) => {
  const model = new Model()
  const lookMs = 200
  const watches = start(t, model, { watchMs: lookMs })
  const { listener } = await joined(watches)
  const startedMs = performance.now()
  let total = 1
  while (performance.now() - startedMs < 5 * lookMs) {
    model.set(++total)
    t.same((await joined(watches)).listener.totals, [total])
    await sleep(5)
  }
  const lookCount = (performance.now() - startedMs) / lookMs
  t.ok(listener.events.length <= 2 + lookCount, `${listener.events.length} events`)
  await until(() => listener.totals.at(-1) === total)
})

t.test('a watcher who comes back is told only what is new to it', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const first = await joined(watches)
  const [{ id }] = first.listener.events
  const second = await joined(watches, OPEN_ACCESS, id)
  first.leave()
  const third = await joined(start(t, model), OPEN_ACCESS, id)
  const unknown = await joined(watches, OPEN_ACCESS, 'nonsense')
  await looks()
  t.same(second.listener.totals, [])
  t.same(third.listener.totals, [], 'nor is it told by another thread')
  t.same(unknown.listener.totals, [1])
  model.set(2)
  await until(() => second.listener.events.length === 1)
  t.same(second.listener.totals, [2])
  t.same((await joined(watches, OPEN_ACCESS, id)).listener.totals, [2])
})

t.test('counts that are under way are told to newcomers alone', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const early = await joined(watches)
  model.flags.IsUpdatingContactList = true
  model.set(2)
  const late = await joined(watches)
  await looks()
  t.same(early.listener.totals, [1])
  t.match(JSON.parse(late.listener.events[0].json).Areas, [{ IsUpdatingContactList: true }])
  model.flags.IsUpdatingContactList = false
  await until(() => late.listener.events.length === 2 && early.listener.events.length === 2)
  t.match(JSON.parse(late.listener.events[1].json).Areas, [{ IsUpdatingContactList: false }])
})

t.test('what changes and changes back while it is counted is told all the same', async (t) => {
  const model = new Model()
  const watches = start(t, model, { watchMs: 50 })
  const { listener } = await joined(watches)
  await sleep(60)
  // Found by a look for somebody else, so that the first one is still to be told.
  model.set(2)
  await joined(watches)
  const { snapshotId } = model
  model.snapshotId = 'other'
  model.flags.IsUpdatingContactList = true
  const late = await joined(watches)
  t.same(late.listener.totals, [2])
  model.snapshotId = snapshotId
  model.flags.IsUpdatingContactList = false
  t.same((await joined(watches)).listener.totals, [2])
  await until(() => listener.totals.at(-1) === 2)
  await until(() => late.listener.events.length === 2)
})

t.test('many are told in turns, between which others go on', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const count = 3 * limits.watchersPerTurnCount
  const all = await Promise.all(Array.from({ length: count }, () => joined(watches)))
  await looks()
  let turnCount = 0
  const countTurn = () => {
    const toldCount = all.filter(({ listener }) => listener.events.length === 2).length
    if (toldCount > 0 && toldCount < count) turnCount++
    if (toldCount < count) setImmediate(countTurn)
  }
  model.set(2)
  countTurn()
  // Told what is the last by then, whenever it is their turn.
  await until(() => all.every(({ listener }) => listener.totals.at(-1) === 2))
  t.ok(turnCount >= 2, `${turnCount} turns`)
})

t.test('areas that cannot be counted are told as such, and tried again', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const { listener } = await joined(watches)
  model.flags.HasContactCountError = true
  model.set(2)
  await until(() => listener.events.length === 2)
  t.match(JSON.parse(listener.events[1].json).Areas, [{ HasContactCountError: true }])
  model.flags.HasContactCountError = false
  await until(() => listener.events.length === 3)
  model.fault = new ServiceError('Forbidden', 'there is no boundary')
  model.set(3)
  await looks()
  t.equal(listener.endCount, 0)
  model.fault = undefined
  await until(() => listener.events.length === 4)
  t.same(listener.totals, [1, 2, 2, 3])
})

t.test('the end of a context is told, and there is nothing to watch then', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const { listener } = await joined(watches)
  model.counts.delete(ID)
  await until(() => listener.endCount === 1)
  t.same(listener.events.at(-1), { kind: 'deleted', id: 'deleted', json: `{"Id":"${ID}"}` })
  t.equal(watches.watcherCount, 0)
  await t.rejects(joined(watches), { code: 'NotFound' })
  t.equal(watches.watcherCount, 0)
  model.set(7)
  t.same((await joined(watches)).listener.totals, [7], 'another one with its Id')
})

t.test('a context that goes while it is read first', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  model.readMs = () => 30
  const joining = joined(watches)
  model.counts.delete(ID)
  await joining.then(
    ({ listener }) => until(() => listener.endCount === 1),
    (fault) => t.match(fault, { code: 'NotFound' }),
  )
  t.equal(watches.watcherCount, 0)
})

t.test('so many watch and no more', async (t) => {
  const model = new Model()
  const watches = start(t, model, { watcherCount: 3 })
  const all = await Promise.all([1, 2, 3].map(() => joined(watches)))
  await t.rejects(joined(watches), { code: 'Overloaded' })
  t.equal(watches.watcherCount, 3)
  all[0].leave()
  all[0].leave()
  t.equal(watches.watcherCount, 2, 'who leaves twice leaves once')
  await joined(watches)
  await t.rejects(joined(watches), { code: 'Overloaded' })
})

t.test('a key that has ended ends what is watched with it', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const [ended, other] = await Promise.all([joined(watches), joined(watches)])
  ended.listener.isAllowed = false
  await until(() => ended.listener.endCount === 1)
  model.set(2)
  await until(() => other.listener.events.length === 2)
  t.same(ended.listener.totals, [1])
})

t.test('those who have a boundary are counted within it', async (t) => {
  const model = new Model()
  const boundary = {}
  const within: Access = { ...OPEN_ACCESS, boundary }
  const asked: (object | undefined)[] = []
  const { read } = model
  model.read = (id, asker) => {
    asked.push(asker.access.boundary)
    return read(id, asker)
  }
  const watches = start(t, model)
  await Promise.all([
    joined(watches),
    joined(watches, within),
    joined(watches, { ...within }),
    joined(watches, { ...OPEN_ACCESS, boundary: {} }),
  ])
  t.equal(asked.length, 3)
  t.equal(asked.filter((each) => each === boundary).length, 1)
})

t.test('a stop ends all of them', async (t) => {
  const model = new Model()
  const watches = start(t, model)
  const { listener } = await joined(watches)
  watches.stop()
  t.equal(listener.endCount, 1)
  await t.rejects(joined(watches), { code: 'Unavailable' })
})

t.test('whatever changes meanwhile, everybody comes to know the last state', async (t) => {
  const random = seededRandom(testSeed(t))
  const model = new Model()
  const ids = [ID, 'b', 'c']
  for (const id of ids) model.set(0, id)
  model.readMs = () => random.between(0, 2) * LOOK_MS
  const watches = start(t, model)
  const watching: { id: string; listener: Listener; leave: () => void }[] = []
  for (let step = 0; step < 300; step++) {
    const id = ids[random.between(0, ids.length - 1)]
    const choice = random.between(0, 3)
    if (choice === 0) model.set(random.between(0, 2), id)
    else if (choice === 1 && watching.length > 0) {
      const [gone] = watching.splice(random.between(0, watching.length - 1), 1)
      gone.leave()
    } else {
      const known = watching.find((each) => each.id === id)?.listener.events.at(-1)?.id
      void joined(watches, OPEN_ACCESS, known, id).then((one) => watching.push({ id, ...one }))
    }
    if (random.between(0, 3) === 0) await sleep(1)
  }
  await looks()
  await looks()
  t.ok(watching.length > 20)
  t.equal(watches.watcherCount, watching.length)
  for (const id of ids) model.set(100, id)
  await until(() => watching.every(({ listener }) => listener.totals.at(-1) === 100))
  for (const { listener } of watching) {
    const told = listener.events.map((event) => event.id)
    t.ok(
      told.every((id, at) => at === 0 || id !== told[at - 1]),
      'nothing twice in a row',
    )
  }
})
