import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { toPolygons } from '../../src/geometry/polygon/polygons.js'
import { including, type Shapes } from '../../src/geometry/shapes.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { createMetricsMemory, frontPage } from '../../src/metrics/memory.js'
import { type QueryPool, startQueryPool } from '../../src/pool/query-pool.js'
import type { Task } from '../../src/pool/tasks.js'
import { attachShard } from '../../src/shard/layout.js'
import { createMask, type Mask } from '../../src/shard/mask.js'
import { coveredBy } from '../../src/shard/select.js'
import { inArenas } from '../support/data/arenas.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { inTime, within } from '../support/service/in-time.js'
import { shardsOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const workerUrl = new URL('../../workers/query.js', import.meta.url).href
const log = createLog('silent')
const random = seededRandom(testSeed(t))
const columns = randomWorld('uniform', 4_000, random)
const WORKER_COUNT = 2
const KILL_COUNT = byTier({ ci: 2, soak: 10 })
const shards = inArenas(shardsOf(columns, 1, 1_000), WORKER_COUNT)
const shardIndexes = shards.map((_, index) => index)
const metrics = createMetricsMemory(1, WORKER_COUNT)
const options = {
  workerUrl,
  workerArgs: [],
  threadCount: WORKER_COUNT,
  shards,
  sourceIds: [1],
  metrics,
  page: frontPage(metrics, 0),
  log,
}

/** A square around the middle of the world, and who is inside it. */
const box = { minLng: middle(columns.lngs), minLat: middle(columns.lats) }
const question = {
  shapes: including(squareFrom(box.minLng, box.minLat)),
  countMode: 'ContactLocation',
  isDistinct: false,
  mask: null,
  moment: 0,
  isLarge: false,
} as const
const expectedCount = columns.lngs.filter(
  (lng, row) => lng >= box.minLng && columns.lats[row] >= box.minLat,
).length

t.test('a task beyond the budget of work is refused by name', async (t) => {
  const pool = await started(t, { edgeTestCount: 20 })
  for (const kind of ['count', 'select', 'cover'] as const) {
    const asked = pool.run<typeof kind>({ kind, shardIndexes, ...question }, inTime())
    await t.rejects(asked, { code: 'TooComplex', status: 422 }, kind)
  }
})

t.test('whom a boundary covers may take the work of a task for each shard', async (t) => {
  const shapes = including(squareFrom(-180e7, -90e7))
  const many = { ...question, shapes, shardIndexes: Array<number>(50).fill(shardIndexes[0]) }
  const budget = { edgeTestCount: 1e9 }
  coveredBy({ ...attachShard(shards[0]), arena: null }, shapes, budget)
  const pool = await started(t, { edgeTestCount: 1e9 - budget.edgeTestCount })
  const covered = await pool.run<'cover'>({ kind: 'cover', ...many }, inTime())
  t.equal(covered.length, 50)
  const selected = pool.run<'select'>({ kind: 'select', ...many }, inTime())
  await t.rejects(selected, { code: 'TooComplex' })
})

t.test('workers that cannot start are an error, not a hang', { timeout: 60_000 }, async (t) => {
  const broken = { ...shards[0], sections: shards[0].sections.slice(1) }
  await t.rejects(startQueryPool({ ...options, threadCount: 1, shards: [broken] }), {
    code: 'Failed',
    message: /a query worker cannot start: shard image has no section/,
  })
  bound(t, { workerStartMs: 0 })
  const slow = startQueryPool({ ...options, threadCount: 1 })
  await t.rejects(slow, { code: 'Failed', message: /did not start: 0 of 1 were ready after 0 ms/ })
})

t.test('threads that still load outlive one that cannot', { timeout: 60_000 }, async (t) => {
  // Ended while it loads, a thread takes the whole process with it.
  const broken = { ...shards[0], sections: shards[0].sections.slice(1) }
  for (let round = 0; round < byTier({ ci: 1, soak: 3 }); round++) {
    const threadCount = byTier({ ci: 2, soak: 8 })
    const start = startQueryPool({ ...options, threadCount, shards: [broken] })
    await t.rejects(start, { code: 'Failed' })
  }
})

t.test('workers give way to other threads, and these keep their priority', async (t) => {
  const before = nicenessOfThreads()
  await workers()
  const after = nicenessOfThreads()
  for (const value of new Set(after)) {
    const count = (all: readonly number[]) => all.filter((each) => each === value).length
    const isLower = value === Math.min(19, Math.min(...before) + 1)
    t.equal(count(after) - count(before), isLower ? WORKER_COUNT : 0, `${value}`)
  }
})

/** Of each thread of this process, see proc(5). */
function nicenessOfThreads(): number[] {
  return readdirSync('/proc/self/task').map((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}

t.test('workers count, select and encode what the shards hold', async (t) => {
  const pool = await workers()
  const counts = await pool.run<'count'>({ kind: 'count', shardIndexes, ...question }, inTime())
  t.equal(sum(counts), expectedCount)
  const selected = await pool.run<'select'>({ kind: 'select', shardIndexes, ...question }, inTime())
  t.equal(selected.length, shards.length)
  const shardIndex = counts.indexOf(Math.max(...counts))
  const runs = selected[shardIndex]
  const some = { shardIndex, runs, format: { kind: 'csv', prefix: '1,Mobile,' } } as const
  const rows = await pool.run<'encode'>({ kind: 'encode', ...some }, inTime())
  const byteCount = await pool.run<'rowBytes'>({ kind: 'rowBytes', ...some }, inTime())
  const world = { kind: 'tile', zoom: 0, x: 0, y: 0, depth: 0 } as const
  const cells = await pool.run<'cells'>({ kind: 'cells', ...some, grid: world }, inTime())
  t.same([...cells], [0, counts[shardIndex]], 'one cell has all of them')
  t.equal(byteCount, rows.bytes.length)
  t.equal(Buffer.from(rows.bytes).toString().trimEnd().split('\r\n').length, counts[shardIndex])
})

t.test('more tasks than the queue holds are refused at once', async (t) => {
  // One that has answered before may expect that the last of so many would wait for too long.
  const pool = await started(t)
  const asked = Array.from({ length: limits.tasksQueuedCount + 1 }, () =>
    pool.run<'count'>({ kind: 'count', shardIndexes, ...question }, inTime()).then(
      () => 'answered',
      (error) => error.code,
    ),
  )
  const outcomes = await Promise.all(asked)
  t.equal(outcomes.filter((outcome) => outcome === 'answered').length, limits.tasksQueuedCount)
  t.equal(outcomes.at(-1), 'Overloaded')
})

t.test('no answer by the deadline is Unavailable, not a hang', async (t) => {
  const pool = await workers()
  // Far more tasks than can be done in no time; the last of them cannot be in time.
  const asked = Array.from({ length: 1_000 }, () =>
    pool.run<'count'>({ kind: 'count', shardIndexes, ...question }, within(0)),
  )
  const outcomes = (await Promise.allSettled(asked)).filter((each) => !isOverload(each))
  t.match(outcomes.at(-1), { status: 'rejected', reason: { code: 'Unavailable', status: 503 } })
})

t.test('workers count within a mask, also those that take the place of a dead one', async (t) => {
  const pool = await workers()
  const run = <Kind extends 'count' | 'cover'>(kind: Kind, shapes: Shapes, mask: Mask | null) =>
    pool.run<Kind>(
      { ...question, kind, shardIndexes, shapes, mask } as Extract<Task, { kind: Kind }>,
      inTime(),
    )
  const everybody = including(squareFrom(-180e7, -90e7))
  const mask = createMask(1, await run('cover', question.shapes, null))
  const other = createMask(2, await run('cover', everybody, null))
  for (let round = 0; round < 2; round++) {
    const asked = Array.from({ length: 40 }, async (_, i) => {
      const [kept, expected] = [
        [mask, expectedCount],
        [other, columns.recipientCount],
        [null, columns.recipientCount],
      ][i % 3] as [Mask | null, number]
      t.equal(sum(await run('count', everybody, kept)), expected)
    })
    await Promise.all(asked)
    await pool.crashWorker()
  }
})

t.test('killing workers gives no wrong answer and no hang', async (t) => {
  const pool = await workers()
  let killing = true
  const killer = (async () => {
    for (let kills = 0; kills < KILL_COUNT; kills++) {
      await pool.crashWorker()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    killing = false
  })()
  let answeredCount = 0
  let refusedCount = 0
  const ask = async () => {
    while (killing) {
      try {
        const counts = await pool.run<'count'>(
          { kind: 'count', shardIndexes, ...question },
          inTime(),
        )
        answeredCount++
        if (sum(counts) !== expectedCount) t.fail(`counted ${sum(counts)} of ${expectedCount}`)
      } catch (error) {
        refusedCount++
        t.match(error, { code: 'Unavailable', status: 503 })
      }
    }
  }
  await Promise.all(Array.from({ length: 20 }, ask))
  await killer
  t.ok(answeredCount > 2 * refusedCount, 'most are answered in spite of it')
})

t.test('a worker that takes the place of a dead one gets a zone of its own again', async (t) => {
  const pool = await workers()
  const zoneOwners = shards[0].arena?.zoneOwners ?? Int32Array.of()
  const count = () =>
    taken(() => pool.run<'count'>({ kind: 'count', shardIndexes, ...question }, inTime()))
  const allOwned = async () => {
    // So many at once that each worker gets some.
    while (zoneOwners.includes(0)) {
      const counts = await Promise.all(
        Array.from({ length: 4 * limits.queriesPerTaskCount }, count),
      )
      if (counts.some((each) => sum(each) !== expectedCount)) t.fail('another count')
    }
    return Array.from(zoneOwners)
  }
  let before = await allOwned()
  for (let kill = 0; kill < byTier({ ci: 1, soak: 5 }); kill++) {
    await pool.crashWorker()
    while (zoneOwners.every((owner, zone) => owner === before[zone])) await count()
    const after = await allOwned()
    t.equal(new Set(after).size, WORKER_COUNT, 'no worker owns two')
    t.equal(after.filter((owner) => before.includes(owner)).length, WORKER_COUNT - 1)
    before = after
  }
})

t.test('a task that no worker can do costs the others nothing', async (t) => {
  const pool = await workers()
  const count = (indexes: readonly number[]) =>
    taken(() =>
      pool.run<'count'>({ kind: 'count', shardIndexes: indexes, ...question }, within(5_000)),
    )
  for (let round = 0; round < byTier({ ci: 1, soak: 10 }); round++) {
    await t.rejects(count([shards.length + 1]), { code: 'Unavailable', status: 503 })
    // It may meet workers that are being replaced, and be refused for that.
    const counts = await count(shardIndexes).catch(() => count(shardIndexes))
    t.equal(sum(counts), expectedCount)
  }
})

/** While a worker is replaced, what would wait for too long is refused: then it is asked again. */
async function taken<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const [outcome] = await Promise.allSettled([ask()])
    if (outcome.status === 'fulfilled') return outcome.value
    if (!isOverload(outcome)) throw outcome.reason
    await sleep(20)
  }
}

function isOverload(outcome: PromiseSettledResult<unknown>): boolean {
  return outcome.status === 'rejected' && outcome.reason.code === 'Overloaded'
}

let pool: Promise<QueryPool> | undefined

/** Those that most tests ask: started once, after the tests that have workers of their own, since zones are few. */
function workers(): Promise<QueryPool> {
  pool ??= started(t)
  return pool
}

async function started(t: Test, bounds: Partial<Bounds> = {}): Promise<QueryPool> {
  bound(t, bounds)
  const pool = await startQueryPool(options)
  t.teardown(() => pool.close())
  return pool
}

type Bounds = Record<'edgeTestCount' | 'workerStartMs', number>

/** Changes limits for the time of a test. */
function bound(t: Test, bounds: Partial<Bounds>): void {
  const { edgeTestCount, workerStartMs } = limits
  Object.assign(limits, bounds)
  t.teardown(() => Object.assign(limits, { edgeTestCount, workerStartMs }))
}

function squareFrom(lng: number, lat: number) {
  return toPolygons([lng, lat, 1.8e9, lat, 1.8e9, 9e8, lng, 9e8], [0, 4], [0, 1])
}

function middle(values: Int32Array): number {
  return values.toSorted()[values.length >> 1]
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
