import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { FrontOrder, SnapshotNews, SwapReport } from '../../src/serve/messages.js'
import { swapSnapshots } from '../../src/serve/swap.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { manyColumns } from '../support/data/columns.js'
import { publishDamaged, publishTest, silentLog } from '../support/data/snapshots.js'
import { until } from '../support/service/until.js'

type FrontPort = Parameters<typeof swapSnapshots>[0]['fronts'][number]

/** What a front thread does when it is told, by the kinds of orders. */
class FakeFront extends EventEmitter implements FrontPort {
  readonly orders: string[] = []
  readonly held: Snapshot[] = []
  news: SnapshotNews = {}
  refuses = false
  /** Whether somebody reads what was served before. */
  isRead = false
  onPrepare: (id: string) => void = () => {}
  #prepared: Snapshot | undefined

  postMessage(order: FrontOrder): void {
    if (order.kind === 'news') this.news = order.news
    else {
      if (order.kind === 'prepare') this.onPrepare(order.snapshot.id)
      this.orders.push(order.kind)
      setImmediate(() => this.#carryOut(order))
    }
  }

  #carryOut(order: FrontOrder): void {
    if (order.kind === 'prepare') {
      const { id } = order.snapshot
      this.#prepared = order.snapshot
      if (this.refuses) this.report({ kind: 'refused', snapshotId: id, reason: 'no workers' })
      else this.report({ kind: 'prepared', snapshotId: id })
    } else if (order.kind === 'switch' && this.#prepared !== undefined) {
      this.held.push(this.#prepared)
      this.report({ kind: 'switched', snapshotId: this.#prepared.id })
      if (!this.isRead) this.release()
    } else if (order.kind === 'discard') {
      this.report({ kind: 'released', snapshotId: order.snapshotId })
    } else if (order.kind === 'breakOff') this.release()
  }

  release(): void {
    this.isRead = false
    this.report({ kind: 'released', snapshotId: this.held.at(-2)?.id ?? '' })
  }

  report(report: SwapReport): void {
    this.emit('message', report)
  }
}

/** A service of two fronts, and what publishes to it. */
async function service(t: Test, releaseMs = 1e9) {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(100))
  const arenas = createArenaPool(1)
  const first = await openSnapshot(data, { arenas })
  const fronts = [new FakeFront(), new FakeFront()]
  for (const { held } of fronts) held.push(first)
  const times = { pollMs: 5, retryMs: 100, releaseMs }
  const attachedIds = [first.id]
  const marks = {
    async attach({ id }: Snapshot) {
      // Longer than fronts take for an order.
      await sleep(5)
      attachedIds.push(id)
    },
    serve: () => {},
    detach: async (id: string) => void attachedIds.splice(attachedIds.indexOf(id), 1),
  }
  const swaps = swapSnapshots({
    dataDirectory: data,
    first,
    arenas,
    fronts,
    marks,
    live: { attach: async () => {}, detach: async () => {} },
    log: silentLog,
    times,
  })
  t.teardown(() => swaps.stop())
  return {
    data,
    first,
    fronts,
    attachedIds,
    publish: (count: number) => publishTest(data, 1, manyColumns(count)),
    untilServed: (id: string) => until(() => fronts.every(({ held }) => held.at(-1)?.id === id)),
  }
}

const memoryOf = (snapshot: Snapshot | undefined) => snapshot?.shards[0].arena?.memory

t.test('snapshots take turns in the same memory', async (t) => {
  const { first, fronts, attachedIds, publish, untilServed } = await service(t)
  fronts[0].onPrepare = (id) =>
    t.ok(attachedIds.includes(id), 'suppressed people are marked by then')
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

for (const at of [0, 1]) {
  t.test(`where front ${at} cannot, none switches, and it is tried again`, (t) =>
    checkRefusal(t, at),
  )
}

async function checkRefusal(t: Test, at: number): Promise<void> {
  const { first, fronts, attachedIds, publish, untilServed } = await service(t)
  fronts[at].refuses = true
  const id = await publish(101)
  await until(() => fronts[0].news.refused !== undefined)
  t.same(fronts[0].news, { refused: { snapshotId: id, reason: 'no workers' } })
  for (const { orders, held } of fronts) {
    t.same(orders, ['prepare', 'discard'])
    t.same(held, [first])
  }
  t.same(attachedIds, [first.id], 'nobody touches what was given back')
  fronts[at].refuses = false
  await untilServed(id)
  await until(() => attachedIds.join() === id)
  await until(() => fronts[0].news.refused === undefined)
}

t.test('a snapshot that does not verify reaches no front, and costs no memory', async (t) => {
  const { data, first, fronts, publish, untilServed } = await service(t)
  const good = await publish(101)
  await untilServed(good)
  const id = await publishDamaged(t, data, 1, manyColumns(102))
  await until(() => fronts[0].news.refused !== undefined)
  t.match(fronts[0].news.refused, { snapshotId: id, reason: /1-0000\.shard/ })
  t.same(fronts[0].orders, ['prepare', 'switch'])
  await untilServed(await publish(103))
  t.equal(memoryOf(fronts[0].held.at(-1)), memoryOf(first))
})

t.test('a third waits for those who read the first, and for no longer than it must', async (t) => {
  for (const releaseMs of [1e9, 0]) {
    const { fronts, publish, untilServed } = await service(t, releaseMs)
    fronts[0].isRead = true
    await untilServed(await publish(101))
    const third = await publish(102)
    await until(() => fronts[0].news.loading === third)
    if (releaseMs > 0) {
      t.same(fronts[1].orders, ['prepare', 'switch'])
      fronts[0].release()
    }
    await untilServed(third)
    t.equal(fronts[0].orders.includes('breakOff'), releaseMs === 0)
  }
})
