/**
 * A request that began with a snapshot goes on with it, and it is closed with the last one.
 *
 * @module
 */
import t from 'tap'
import { type Caller, callerUntil } from '../../src/pool/tasks.js'
import type { SelectionService } from '../../src/selection/answer.js'
import {
  createCurrent,
  type OpenSnapshot,
  snapshotCalls,
} from '../../src/serve/served-snapshots.js'
import { silentLog } from '../support/data/snapshots.js'

interface FakeSnapshot extends OpenSnapshot {
  closeCount: number
}

function fake(snapshotId: string): FakeSnapshot {
  const service = { catalogue: { snapshotId, sources: [], shards: [] } }
  const snapshot = {
    service: service as unknown as SelectionService,
    closeCount: 0,
    async close() {
      snapshot.closeCount++
    },
  }
  return snapshot
}

/** A caller, and its end. */
function client(): { caller: Caller; leave(): void } {
  const listeners: (() => void)[] = []
  return {
    caller: { ...callerUntil(0), whenOver: (listener) => void listeners.push(listener) },
    leave() {
      for (const listener of listeners.splice(0)) listener()
    },
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('an old snapshot is closed when the last of its callers is over', async (t) => {
  const [a, b] = [fake('a'), fake('b')]
  const current = createCurrent(a)
  const [one, two, late] = [client(), client(), client()]
  t.equal(current.hold(one.caller), a.service)
  t.equal(current.hold(two.caller), a.service)
  let isReleased = false
  const { released } = current.switchTo(b)
  void released.then(() => {
    isReleased = true
  })
  t.equal(current.newest, b)
  t.equal(current.hold(late.caller), b.service)
  t.equal(current.hold(one.caller), a.service, 'all that one asks is of one snapshot')
  for (const { leave } of [late, one]) {
    leave()
    await turn()
    t.equal(a.closeCount, 0)
  }
  two.leave()
  await released
  t.ok(isReleased)
  t.same([a.closeCount, b.closeCount], [1, 0])
})

t.test('a snapshot that no request holds is closed at once', async (t) => {
  const snapshots = ['a', 'b', 'c'].map(fake)
  const current = createCurrent(snapshots[0])
  const gone: Caller = { ...callerUntil(0), gone: true, whenOver: (listener) => listener() }
  t.equal(current.hold(gone), snapshots[0].service)
  await current.switchTo(snapshots[1]).released
  await current.switchTo(snapshots[2]).released
  t.same(
    snapshots.map(({ closeCount }) => closeCount),
    [1, 1, 0],
  )
})

t.test('work within the service keeps its snapshot, whether it succeeds or fails', async (t) => {
  for (const fails of [false, true]) {
    const [a, b] = [fake('a'), fake('b')]
    const current = createCurrent(a)
    let finish: () => void = () => {}
    const work = current.use(async (service) => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      if (fails) throw new Error('no')
      return service.catalogue.snapshotId
    })
    const { released } = current.switchTo(b)
    await turn()
    t.equal(a.closeCount, 0)
    finish()
    if (fails) await t.rejects(work, { message: 'no' })
    else t.equal(await work, 'a')
    await released
    t.equal(a.closeCount, 1)
  }
})

t.test('breaking off closes what is held, but not the newest', async (t) => {
  const [a, b] = [fake('a'), fake('b')]
  const current = createCurrent(a)
  const [one, two] = [client(), client()]
  current.hold(one.caller)
  const { released } = current.switchTo(b)
  current.hold(two.caller)
  current.breakOff()
  await released
  t.same([a.closeCount, b.closeCount], [1, 0])
  one.leave()
  two.leave()
  await current.switchTo(fake('c')).released
  t.same([a.closeCount, b.closeCount], [1, 1], 'each is closed once')
})

t.test('closing closes all, once, although requests hold them', async (t) => {
  const [a, b] = [fake('a'), fake('b')]
  const current = createCurrent(a)
  current.hold(client().caller)
  const { released } = current.switchTo(b)
  current.hold(client().caller)
  await current.close()
  await released
  t.same([a.closeCount, b.closeCount], [1, 1])
})

/** A front thread with snapshot `a`, and which ones it has closed. */
function front() {
  const closed: string[] = []
  const opened = (snapshotId: string): OpenSnapshot => ({
    service: { catalogue: { snapshotId, sources: [], shards: [] } } as unknown as SelectionService,
    close: async () => void closed.push(snapshotId),
  })
  const current = createCurrent(opened('a'))
  const calls = snapshotCalls({
    current,
    start: async ({ id }) => {
      if (id.startsWith('bad')) throw new Error('its workers do not start')
      return opened(id)
    },
    onSwitched: () => {},
    log: silentLog,
  })
  const prepare = (id: string) =>
    calls.prepare({ id, createdAt: '', sources: [], shards: [], arenas: [] })
  const servedId = () => current.newest.service.catalogue.snapshotId
  return { closed, current, calls, prepare, servedId }
}

const forEver = (): Caller => ({ ...callerUntil(0), whenOver: () => {} })

t.test('what is prepared is served from the switch on, and the old one released', async (t) => {
  const { closed, calls, prepare, servedId } = front()
  await prepare('b')
  t.equal(servedId(), 'a', 'not before the switch')
  await calls.switch()
  t.equal(servedId(), 'b')
  await calls.untilReleased()
  t.same(closed, ['a'])
})

t.test('what cannot be started is refused, and another served afterwards', async (t) => {
  const { closed, calls, prepare, servedId } = front()
  await t.rejects(prepare('bad'), { message: 'its workers do not start' })
  await calls.discard()
  t.equal(servedId(), 'a')
  await prepare('b')
  await calls.switch()
  await calls.untilReleased()
  t.same(closed, ['a'])
})

t.test('what was prepared for nothing is closed', async (t) => {
  const { closed, calls, prepare } = front()
  await prepare('b')
  await calls.discard()
  t.same(closed, ['b'])
  await t.rejects(calls.switch(), /no snapshot to switch to/)
})

t.test('an old one that is held is released when that is broken off', async (t) => {
  const { closed, current, calls, prepare } = front()
  current.hold(forEver())
  await prepare('b')
  await calls.switch()
  t.same(closed, [])
  calls.breakOff()
  await calls.untilReleased()
  t.same(closed, ['a'])
})

t.test('at the end all are closed, one that is being prepared too', async (t) => {
  const { closed, current, calls, prepare } = front()
  current.hold(forEver())
  const prepared = prepare('b')
  await calls.close()
  await prepared
  t.same(closed.toSorted(), ['a', 'b'])
})
