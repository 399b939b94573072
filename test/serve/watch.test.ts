import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Refusal, SnapshotNews } from '../../src/serve/messages.js'
import { watchCurrent } from '../../src/serve/watch.js'
import { writeCurrent } from '../../src/snapshot/directory.js'
import { silentLog } from '../support/data/snapshots.js'
import { until } from '../support/service/until.js'

const [FIRST, SECOND, THIRD] = ['000001-aaaaaaaa', '000002-bbbbbbbb', '000003-cccccccc']
const POLL_MS = 2
const NEVER_MS = 1e9

interface Times {
  readonly retryMs?: number
  readonly releaseMs?: number
  readonly refused?: Refusal
}

/** A watcher of a directory in which FIRST is served, and what it asks for. */
async function watched(t: Test, options: Times = {}) {
  const { retryMs = NEVER_MS, releaseMs = NEVER_MS, refused } = options
  const data = t.testdir({})
  await writeCurrent(data, refused?.snapshotId ?? FIRST)
  const seen = {
    /** Ids, and whether they were taken, in the order of the attempts. */
    attempts: [] as [id: string, outcome: string][],
    news: [] as SnapshotNews[],
    brokenOffCount: 0,
    isBad: (_: string) => false,
    swap: {
      isReleasing: false,
      async take(id: string) {
        const isBad = seen.isBad(id)
        seen.attempts.push([id, isBad ? 'refused' : 'taken'])
        if (isBad) throw new Error(`${id} is bad`)
      },
      breakOff: () => void seen.brokenOffCount++,
    },
  }
  const { swap } = seen
  const watch = watchCurrent({
    dataDirectory: data,
    servedId: FIRST,
    refused,
    swap,
    onNews: (news) => void seen.news.push(news),
    log: silentLog,
    times: { pollMs: POLL_MS, retryMs, releaseMs },
  })
  t.teardown(() => watch.stop())
  return { data, seen, watch, swap }
}

/** Long enough for a watcher to have looked several times. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 20 * POLL_MS))

t.test('each snapshot that CURRENT names is taken once, an older one too', async (t) => {
  const { data, seen, watch } = await watched(t)
  await aWhile()
  t.same(seen.attempts, [], 'not the one that is served')
  for (const [at, id] of [SECOND, FIRST, THIRD].entries()) {
    await writeCurrent(data, id)
    await until(() => seen.attempts.length > at)
    await aWhile()
    t.same(seen.attempts.at(-1), [id, 'taken'])
    t.same(seen.news.slice(-2), [{ loading: id }, {}])
  }
  t.equal(seen.attempts.length, 3)
  watch.stop()
  await writeCurrent(data, SECOND)
  await aWhile()
  t.equal(seen.attempts.length, 3, 'none after the end')
})

t.test('what is refused is not tried again soon, and the next one is', async (t) => {
  const { data, seen } = await watched(t)
  seen.isBad = (id) => id === SECOND
  await writeCurrent(data, SECOND)
  await until(() => seen.news.at(-1)?.refused !== undefined)
  await aWhile()
  t.same(seen.attempts, [[SECOND, 'refused']])
  t.same(seen.news.at(-1), { refused: { snapshotId: SECOND, reason: `${SECOND} is bad` } })
  await writeCurrent(data, THIRD)
  await until(() => seen.attempts.length === 2)
  await until(() => seen.news.at(-1)?.loading === undefined)
  t.same(seen.news.at(-1), {})
})

t.test('what is refused is tried again after a while', async (t) => {
  const { data, seen } = await watched(t, { retryMs: 30 })
  let attemptCount = 0
  seen.isBad = () => ++attemptCount < 3
  await writeCurrent(data, SECOND)
  await until(() => seen.attempts.length === 3)
  await aWhile()
  t.same(
    seen.attempts.map(([, outcome]) => outcome),
    ['refused', 'refused', 'taken'],
  )
  t.same(seen.news.at(-1), {})
})

t.test('to go back to what is served clears what was refused', async (t) => {
  const { data, seen } = await watched(t)
  seen.isBad = () => true
  await writeCurrent(data, SECOND)
  await until(() => seen.news.at(-1)?.refused !== undefined)
  await writeCurrent(data, FIRST)
  await until(() => seen.news.at(-1)?.refused === undefined)
  t.equal(seen.attempts.length, 1)
})

t.test(
  'what was refused at the start is tried again after a while, and a newer one at once',
  async (t) => {
    const refused = { snapshotId: SECOND, reason: 'damaged' }
    for (const [retryMs, expected] of [
      [NEVER_MS, []],
      [30, [[SECOND, 'taken']]],
    ] as const) {
      const { data, seen } = await watched(t, { retryMs, refused })
      if (expected.length > 0) await until(() => seen.attempts.length > 0)
      await aWhile()
      t.same(seen.attempts, expected)
      t.same(seen.news.slice(0, 1), expected.length > 0 ? [{ refused, loading: SECOND }] : [])
      await writeCurrent(data, THIRD)
      await until(() => seen.attempts.length === expected.length + 1)
      await until(() => seen.news.at(-1)?.loading === undefined)
      t.same(seen.news.at(-1), {}, 'nothing is refused any more')
    }
  },
)

t.test('CURRENT that is missing or no id is told once, and served on', async (t) => {
  const { data, seen } = await watched(t)
  rmSync(join(data, 'CURRENT'))
  await until(() => seen.news.length === 1)
  t.match(seen.news[0].refused, { snapshotId: undefined, reason: /there is no CURRENT in/ })
  writeFileSync(join(data, 'CURRENT'), 'nonsense\n')
  await until(() => seen.news.length === 2)
  t.match(seen.news[1].refused?.reason, /not a snapshot id/)
  await aWhile()
  t.equal(seen.news.length, 2)
  await writeCurrent(data, FIRST)
  await until(() => seen.news.length === 3)
  t.same(seen.news[2], {})
  t.same(seen.attempts, [])
})

t.test('none is taken while an old one is in memory; the newest is taken then', async (t) => {
  const { data, seen, swap } = await watched(t)
  swap.isReleasing = true
  await writeCurrent(data, SECOND)
  await until(() => seen.news.at(-1)?.loading === SECOND)
  await writeCurrent(data, THIRD)
  await until(() => seen.news.at(-1)?.loading === THIRD)
  await aWhile()
  t.same(seen.attempts, [])
  t.equal(seen.brokenOffCount, 0, 'those who read have time')
  swap.isReleasing = false
  await until(() => seen.attempts.length === 1)
  t.same(seen.attempts, [[THIRD, 'taken']])
})

t.test('those who read for too long are broken off, but only for a newer one', async (t) => {
  const { data, seen, swap } = await watched(t, { releaseMs: 0 })
  swap.isReleasing = true
  await aWhile()
  t.equal(seen.brokenOffCount, 0)
  await writeCurrent(data, SECOND)
  await until(() => seen.brokenOffCount > 0)
  t.same(seen.attempts, [])
  swap.isReleasing = false
  await until(() => seen.attempts.length === 1)
})
