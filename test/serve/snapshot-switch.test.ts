import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Refusal } from '../../src/serve/messages.js'
import { switchSnapshots } from '../../src/serve/snapshot-switch.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { writeCurrent } from '../../src/snapshot/directory.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { manyColumns } from '../support/data/columns.js'
import { publishDamaged, publishTest, silentLog } from '../support/data/snapshots.js'
import { until } from '../support/service/until.js'
import { FakeFront } from './fake-front.js'

const POLL_MS = 5
const NEVER_MS = 1e9

interface ServiceOptions {
  readonly retryMs?: number
  readonly releaseMs?: number
  /** What CURRENT names at the start, by its place among the later ones. */
  readonly refused?: number
  readonly detach?: () => Promise<void>
}

/** A service of two fronts, and later snapshots of its directory. */
async function service(t: Test, options: ServiceOptions = {}) {
  const { retryMs = NEVER_MS, releaseMs = NEVER_MS } = options
  const data = t.testdir({})
  const publish = (count: number) => publishTest(data, 1, manyColumns(count))
  const firstId = await publish(100)
  const laterIds = options.refused === undefined ? [] : [await publish(101), await publish(102)]
  const refusedId = laterIds[options.refused ?? -1]
  const refused: Refusal | undefined =
    refusedId === undefined ? undefined : { snapshotId: refusedId, reason: 'damaged' }
  await writeCurrent(data, firstId)
  const arenas = createArenaPool(1)
  const first = await openSnapshot(data, { arenas })
  if (refusedId !== undefined) await writeCurrent(data, refusedId)
  const fronts = [new FakeFront(first), new FakeFront(first)]
  const attachedIds = [firstId]
  const marks = {
    async attach({ id }: Snapshot) {
      // Longer than fronts take for a call.
      await sleep(5)
      attachedIds.push(id)
    },
    serve: () => {},
    detach: async (id: string) => void attachedIds.splice(attachedIds.indexOf(id), 1),
  }
  const switching = switchSnapshots({
    dataDirectory: data,
    first,
    refused,
    arenas,
    fronts: fronts.map(({ thread }) => thread),
    marks,
    live: { attach: async () => {}, detach: options.detach ?? (async () => {}) },
    log: silentLog,
    times: { pollMs: POLL_MS, retryMs, releaseMs },
  })
  t.teardown(() => switching.stop())
  const [front] = fronts
  return {
    data,
    first,
    fronts,
    front,
    laterIds,
    refused,
    attachedIds,
    switching,
    publish,
    lastNews: () => front.news.at(-1) ?? {},
    want: (id: string) => writeCurrent(data, id),
    untilServed: (id: string) => until(() => fronts.every(({ held }) => held.at(-1)?.id === id)),
  }
}

const memoryOf = (snapshot: Snapshot | undefined) => snapshot?.shards[0].arena?.memory
const servedIds = ({ held }: FakeFront) => held.map(({ id }) => id)
/** Long enough for several looks. */
const aWhile = () => sleep(20 * POLL_MS)

t.test('snapshots take turns in the same memory', async (t) => {
  const { first, fronts, attachedIds, publish, untilServed } = await service(t)
  fronts[0].onPrepare = (id) =>
    t.ok(attachedIds.includes(id), 'suppressed recipients are marked by then')
  for (let count = 101; count < 105; count++) await untilServed(await publish(count))
  const memories = new Set([first, ...fronts.flatMap(({ held }) => held)].map(memoryOf))
  t.equal(memories.size, 2)
  t.same(
    fronts[1].held.map(({ arenas }) => arenas.length),
    [1, 1, 1, 1, 1],
    'repeats and all',
  )
  t.same(
    fronts[1].held.map(({ sources }) => sources[0].recipientCount),
    [100, 101, 102, 103, 104],
  )
})

t.test('each snapshot that CURRENT names is served once, an older one too', async (t) => {
  const { first, front, want, publish, untilServed, switching } = await service(t)
  await aWhile()
  t.same(front.calls, [], 'not the one that is served')
  const second = await publish(101)
  await untilServed(second)
  await want(first.id)
  await until(() => front.held.length === 3)
  await aWhile()
  t.same(servedIds(front), [first.id, second, first.id])
  t.same(front.news.slice(-2), [{ loading: first.id }, {}])
  switching.stop()
  await want(second)
  await aWhile()
  t.equal(front.held.length, 3, 'none after the end')
})

for (const at of [0, 1]) {
  t.test(`where front ${at} cannot, none switches, and it is tried again`, async (t) => {
    const { first, fronts, attachedIds, publish, untilServed, lastNews } = await service(t, {
      retryMs: 100,
    })
    fronts[at].refusal = () => 'no workers'
    const id = await publish(101)
    await until(() => lastNews().refused !== undefined)
    t.same(lastNews(), { refused: { snapshotId: id, reason: 'no workers' } })
    for (const { calls, held } of fronts) {
      t.same(calls, ['prepare', 'discard'])
      t.same(held, [first])
    }
    t.same(attachedIds, [first.id], 'no thread touches what was given back')
    fronts[at].refusal = () => undefined
    await untilServed(id)
    await until(() => attachedIds.join() === id)
    await until(() => lastNews().refused === undefined)
  })
}

t.test('what one front refuses is given back when the others are done with it', async (t) => {
  const { first, fronts, attachedIds, publish } = await service(t)
  fronts[0].refusal = () => 'no workers'
  let goOn = () => {}
  fronts[1].onPrepare = () =>
    new Promise<void>((resolve) => {
      goOn = resolve
    })
  const id = await publish(101)
  await until(() => fronts[1].calls.length > 0)
  await aWhile()
  t.same(attachedIds, [first.id, id])
  for (const { calls } of fronts) t.same(calls, ['prepare'])
  goOn()
  await until(() => attachedIds.join() === first.id)
  for (const { calls } of fronts) t.same(calls, ['prepare', 'discard'])
})

for (const at of ['after a switch', 'of one that was refused']) {
  t.test(`memory that may be in use, ${at}, ends the service`, async (t) => {
    const { front, switching, publish } = await service(t, {
      detach: () => Promise.reject(new Error('it is still read')),
    })
    if (at !== 'after a switch') front.refusal = () => 'no workers'
    await publish(101)
    await t.rejects(switching.failure, { message: 'it is still read' })
  })
}

t.test('fronts that do not all switch end the service', async (t) => {
  const { fronts, switching, publish } = await service(t)
  fronts[1].breaksAtSwitch = true
  await publish(101)
  await t.rejects(switching.failure, { message: 'it cannot switch' })
})

t.test('what is refused is not tried again soon, and the next one is', async (t) => {
  const { front, publish, untilServed, lastNews } = await service(t)
  front.refusal = () => 'no workers'
  const second = await publish(101)
  await until(() => lastNews().refused !== undefined)
  await aWhile()
  t.same(front.calls, ['prepare', 'discard'])
  t.same(lastNews(), { refused: { snapshotId: second, reason: 'no workers' } })
  front.refusal = () => undefined
  await untilServed(await publish(102))
  await until(() => lastNews().loading === undefined)
  t.same(lastNews(), {})
})

t.test('what is refused is tried again after a while', async (t) => {
  const { front, publish, untilServed } = await service(t, { retryMs: 30 })
  let attemptCount = 0
  front.refusal = () => (++attemptCount < 3 ? 'no workers' : undefined)
  await untilServed(await publish(101))
  t.equal(attemptCount, 3)
})

t.test('to go back to what is served clears what was refused', async (t) => {
  const { first, front, publish, want, lastNews } = await service(t)
  front.refusal = () => 'no workers'
  await publish(101)
  await until(() => lastNews().refused !== undefined)
  await want(first.id)
  await until(() => lastNews().refused === undefined)
  t.same(servedIds(front), [first.id])
})

t.test('what was refused at the start is tried again after a while', async (t) => {
  const { front, laterIds, refused, untilServed, lastNews } = await service(t, {
    retryMs: 30,
    refused: 0,
  })
  await untilServed(laterIds[0])
  await until(() => lastNews().loading === undefined)
  t.same(front.news, [{ refused, loading: laterIds[0] }, {}])
})

t.test('instead of what was refused at the start, a newer one is served at once', async (t) => {
  const { front, laterIds, want, untilServed, lastNews } = await service(t, { refused: 0 })
  await aWhile()
  t.same(front.calls, [])
  t.same(front.news, [])
  await want(laterIds[1])
  await untilServed(laterIds[1])
  await until(() => lastNews().loading === undefined)
  t.same(lastNews(), {}, 'nothing is refused any more')
})

t.test('CURRENT that is missing or no id is news once, and served on', async (t) => {
  const { data, first, front, want } = await service(t)
  rmSync(join(data, 'CURRENT'))
  await until(() => front.news.length === 1)
  t.match(front.news[0].refused, { snapshotId: undefined, reason: /there is no CURRENT in/ })
  writeFileSync(join(data, 'CURRENT'), 'nonsense\n')
  await until(() => front.news.length === 2)
  t.match(front.news[1].refused?.reason, /not a snapshot id/)
  await aWhile()
  t.equal(front.news.length, 2)
  await want(first.id)
  await until(() => front.news.length === 3)
  t.same(front.news[2], {})
  t.same(front.calls, [])
})

t.test('a snapshot that does not verify reaches no front, and costs no memory', async (t) => {
  const { data, first, front, publish, untilServed, lastNews } = await service(t)
  const good = await publish(101)
  await untilServed(good)
  const id = await publishDamaged(t, data, 1, manyColumns(102))
  await until(() => lastNews().refused !== undefined)
  t.match(lastNews().refused, { snapshotId: id, reason: /1-0000\.shard/ })
  t.same(front.calls, ['prepare', 'switch'])
  await untilServed(await publish(103))
  t.equal(memoryOf(front.held.at(-1)), memoryOf(first))
})

t.test('none is loaded while an old one is in memory; the newest is then', async (t) => {
  const { fronts, front, publish, untilServed, lastNews } = await service(t)
  front.isRead = true
  await untilServed(await publish(101))
  const third = await publish(102)
  await until(() => lastNews().loading === third)
  const fourth = await publish(103)
  await until(() => lastNews().loading === fourth)
  await aWhile()
  for (const { calls } of fronts) t.same(calls, ['prepare', 'switch'], 'readers have time')
  front.release()
  await untilServed(fourth)
  t.equal(front.held.length, 3)
})

t.test('requests that read for too long are broken off, but only for a newer one', async (t) => {
  const { fronts, front, publish, untilServed } = await service(t, { releaseMs: 0 })
  front.isRead = true
  await untilServed(await publish(101))
  await aWhile()
  t.same(front.calls, ['prepare', 'switch'])
  await untilServed(await publish(102))
  for (const { calls } of fronts) {
    t.same(calls, ['prepare', 'switch', 'breakOff', 'prepare', 'switch'])
  }
})
