import t from 'tap'
import {
  claimWorkerPage,
  clipPage,
  createMetricsMemory,
  frontPage,
  mainPage,
  marksPage,
  observe,
  placesOf,
  privatePage,
  releaseWorkerPage,
  slotOf,
  strideOf,
  threadPages,
} from '../../src/metrics/memory.js'
import { type CountedName, counted } from '../../src/metrics/table.js'

const names = Object.keys(counted) as CountedName[]

t.test('no two places of the table share a slot', async (t) => {
  const taken = new Set<number>()
  for (const name of names) {
    const metric = counted[name]
    const width = 'buckets' in metric ? metric.buckets.length + 2 : 1
    for (const { slot } of placesOf(name)) {
      for (let i = 0; i < width; i++) {
        const at = slot + i * strideOf(name)
        t.notOk(taken.has(at), `${name} has slot ${at} for itself`)
        taken.add(at)
      }
    }
  }
  t.equal(taken.size, privatePage().length)
})

t.test('a place is asked for by all of its labels, in their order', async (t) => {
  const place = slotOf('hickory_requests_total', 'RecipientRequest', '200')
  t.ok(Number.isInteger(place))
  t.throws(() => slotOf('hickory_requests_total', '200', 'RecipientRequest'))
  t.throws(() => slotOf('hickory_requests_total', 'RecipientRequest'))
  t.throws(() => slotOf('hickory_requests_total', 'RecipientRequest', '299'))
})

t.test('a value counts in the first bucket whose bound it does not exceed', async (t) => {
  const histogram = { buckets: [1, 2, 4], stride: 3 }
  for (const [value, bucket] of [
    [0, 0],
    [1, 0],
    [1.000_1, 1],
    [2, 1],
    [4, 2],
    [4.1, 3],
    [1e9, 3],
  ]) {
    const page = privatePage()
    observe(page, 10, histogram, value)
    t.equal(page[10 + 3 * bucket], 1, `${value}`)
    t.equal(page[10 + 3 * 4], value, 'the sum')
    t.equal(
      page.reduce((sum, each) => sum + each, 0),
      1 + value,
      'and nowhere else',
    )
  }
})

t.test('every thread has a page of its own', async (t) => {
  const memory = createMetricsMemory(2, 3)
  const fixed = [mainPage(memory), marksPage(memory)]
  for (const front of [0, 1]) fixed.push(frontPage(memory, front), clipPage(memory, front))
  for (const [at, page] of fixed.entries()) page.fill(at + 1)
  const workers = threadPages(memory).filter(({ role }) => role === 'query')
  t.equal(workers.length, 8, 'twice as many query workers as there are, and one for each front')
  for (const { page } of workers) t.ok(page.every((each) => each === 0))
  for (const [at, page] of fixed.entries()) t.ok(page.every((each) => each === at + 1))
  const threads = threadPages(memory).map(({ thread }) => thread)
  t.equal(new Set(threads).size, threads.length)
  t.match(threads, ['main', 'marks', 'front-0', 'front-1', 'clip-0', 'clip-1', 'query-0'])
})

t.test('a page is free again when its worker has ended, and not before', async (t) => {
  const memory = createMetricsMemory(1, 1)
  const all = [claimWorkerPage(memory), claimWorkerPage(memory), claimWorkerPage(memory)]
  for (const page of all) t.equal(page.buffer, memory.buffer)
  const none = claimWorkerPage(memory)
  t.not(none.buffer, memory.buffer, 'one too many counts where nobody reads')
  t.equal(none.length, privatePage().length)
  releaseWorkerPage(memory, 12_345)
  t.not(claimWorkerPage(memory).buffer, memory.buffer, 'the end of another thread frees nothing')
  // The ids of threads begin with 0, and this is the main thread.
  all[0][0] = 7
  releaseWorkerPage(memory, 0)
  const again = claimWorkerPage(memory)
  t.equal(again.buffer, memory.buffer)
  t.equal(again[0], 7, 'a counter never falls')
})
