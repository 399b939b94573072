/**
 * The channel between a front thread and a query worker, with a worker that does nothing but answer.
 *
 * @module
 */
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { toPolygons } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { Channel, layOutChannel } from '../../src/pool/channel.js'
import { FindingsReader } from '../../src/pool/codec.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const shapes = including(toPolygons([0, 0, 9, 0, 9, 9], [0, 3], [0, 1]))

function countOf(shardIndex: number) {
  const shardIndexes = [shardIndex]
  return {
    kind: 'count',
    shardIndexes,
    shapes,
    countMode: 'ContactLocation',
    isDistinct: false,
    mask: null,
    moment: 0,
  } as const
}

function opened(t: Test, spins: number) {
  const channel = new Channel()
  const { workerEnd } = channel
  const worker = new Worker(new URL('./fixtures/channel-thread.js', import.meta.url), {
    workerData: { end: workerEnd, spins },
    transferList: [workerEnd.port],
  })
  const exited = once(worker, 'exit')
  t.teardown(async () => {
    channel.close()
    await exited
  })
  return { channel, exited }
}

/** Polls for results as a scheduler does: so many times, and then it asks to be notified. */
function follow(channel: Channel, turnCount: number): void {
  if (turnCount === 0) channel.requestNotify()
  else {
    setImmediate(() => {
      channel.drain()
      follow(channel, turnCount - 1)
    })
  }
}

/** Sends a batch of counts; resolves when all of them are answered. */
function sendCounts(
  channel: Channel,
  shardIndexes: readonly number[],
  turnCount = 0,
): Promise<number[]> {
  const queries = shardIndexes.map(countOf)
  for (const query of queries) channel.batch.write(query, 0)
  return new Promise((resolve, reject) => {
    channel.sendBatch({
      done(flat) {
        const reader = new FindingsReader(flat as Uint32Array)
        const counts = queries.map(() =>
          reader.nextFault() === undefined ? reader.counts(1)[0] : -1,
        )
        resolve(counts)
        follow(channel, turnCount)
      },
      failed: reject,
    })
    follow(channel, turnCount)
  })
}

function sendRows(channel: Channel, runs: Uint32Array, turnCount = 0): Promise<unknown> {
  const format = { kind: 'json' } as const
  return new Promise((resolve, reject) => {
    const task = { kind: 'rows', shardIndex: 0, runs, format, into: new Uint8Array(0) } as const
    const done = (result: unknown) => {
      resolve(result)
      follow(channel, turnCount)
    }
    channel.sendTask(task, { done, failed: reject })
    follow(channel, turnCount)
  })
}

t.test('every task ends with its own result, however the threads fall asleep', async (t) => {
  const random = seededRandom(testSeed(t))
  for (const spins of [0, 3_000, 300_000]) {
    const { channel } = opened(t, spins)
    const open = new Set<Promise<void>>()
    let wrongCount = 0
    const rounds = byTier({ ci: 300, soak: 50_000 })
    for (let round = 0; round < rounds; round++) {
      if (open.size === 5) await Promise.race(open)
      const numbers = Array.from(
        { length: random.between(1, 16) },
        () => 14 + random.between(0, 99),
      )
      const isRows = random.unit() < 0.1
      const turnCount = random.between(0, 3)
      const sent = isRows
        ? sendRows(channel, Uint32Array.from(numbers), turnCount)
        : sendCounts(channel, numbers, turnCount)
      const ended: Promise<void> = sent.then((result) => {
        open.delete(ended)
        const expected = isRows ? numbers : numbers.map((each) => 2 * each)
        if (String(result) !== String(expected)) wrongCount++
      })
      open.add(ended)
      // So that now and then one of the two has nothing to do.
      if (random.unit() < 0.2) await nextTurn()
    }
    await Promise.all(open)
    t.equal(wrongCount, 0, `${spins} spins`)
  }
})

t.test('a result without a notification is found all the same', async (t) => {
  const { channel } = opened(t, 30_000_000)
  const { control } = layOutChannel(channel.workerEnd.buffer)
  for (let round = 0; round < 5; round++) {
    const sent = sendCounts(channel, [20])
    // The request to be notified is lost before the worker is done, which takes it milliseconds.
    Atomics.store(control, WANTED, 0)
    t.same(await sent, [40])
  }
})

/** Where a channel keeps whether the front is to be notified. */
const WANTED = 32

t.test('a worker that dies keeps what it has done, and loses nothing else', async (t) => {
  const { channel, exited } = opened(t, 0)
  t.same(await sendCounts(channel, [20]), [40])
  const done = sendCounts(channel, [21, 22])
  const cause = sendCounts(channel, [13])
  const behind = sendRows(channel, Uint32Array.of(1))
  await exited
  // As it is where nobody looked at the channel in between.
  channel.fail(new Error('for the test'))
  t.same(await done, [42, 44])
  await t.rejects(cause, { message: 'for the test' })
  await t.rejects(behind, { message: 'for the test' })
})

t.test('a channel that is closed does what it was sent before', async (t) => {
  const { channel, exited } = opened(t, 300_000)
  const sent = [1, 2, 3].map((each) => sendCounts(channel, [each]))
  channel.close()
  t.same(await Promise.all(sent), [[2], [4], [6]])
  t.equal((await exited)[0], 0)
})
