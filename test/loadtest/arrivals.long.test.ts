import t from 'tap'
import { createArrivals } from '../../loadtest/generator/arrivals.js'

interface Sent {
  readonly connection: string
  readonly arrivedMs: number
}

function arrivalsOf(ratePerSecond: number, endMs: number) {
  const sent: Sent[] = []
  const arrivals = createArrivals<string>(
    { startMs: 1_000, endMs: 1_000 + endMs, ratePerSecond },
    (connection, arrivedMs) => sent.push({ connection, arrivedMs }),
  )
  return { arrivals, sent }
}

t.test('requests arrive at the rate, in whole milliseconds', async (t) => {
  const { arrivals, sent } = arrivalsOf(400, 1_000)
  t.equal(arrivals.offeredCount, 400)
  for (let nowMs = 990; nowMs <= 2_100; nowMs++) {
    arrivals.free('a')
    arrivals.free('b')
    arrivals.sendDue(nowMs)
  }
  t.equal(arrivals.sentCount, 400)
  t.same(
    sent.slice(0, 4).map(({ arrivedMs }) => arrivedMs),
    [1_000, 1_003, 1_005, 1_008],
  )
  t.equal(sent.at(-1)?.arrivedMs, 1_998)
})

t.test('as many arrive as the rate says, wherever the clock stands', async (t) => {
  for (const startMs of [0, 56.3104, 56.310399999999994, 91.31689999999999]) {
    const plan = { startMs, endMs: startMs + 2_000, ratePerSecond: 200 }
    t.equal(createArrivals(plan, () => {}).offeredCount, 400, `${startMs}`)
  }
})

t.test('one that finds no connection waits, and arrived when it did', async (t) => {
  const { arrivals, sent } = arrivalsOf(100, 1_000)
  arrivals.free('a')
  for (let nowMs = 1_000; nowMs <= 1_500; nowMs++) arrivals.sendDue(nowMs)
  t.equal(sent.length, 1, 'the only connection is busy')
  arrivals.free('a')
  arrivals.free('b')
  arrivals.sendDue(1_500)
  t.same(sent.slice(1), [
    { connection: 'a', arrivedMs: 1_010 },
    { connection: 'b', arrivedMs: 1_020 },
  ])
  t.equal(arrivals.offeredCount - arrivals.sentCount, 97)
})

t.test('the connection that is idle for longest sends next', async (t) => {
  const { arrivals, sent } = arrivalsOf(1_000, 1_000)
  for (const connection of ['a', 'b', 'c']) arrivals.free(connection)
  arrivals.sendDue(1_000)
  arrivals.free('a')
  for (const nowMs of [1_001, 1_002, 1_003]) arrivals.sendDue(nowMs)
  t.same(
    sent.map(({ connection }) => connection),
    ['a', 'b', 'c', 'a'],
  )
})
