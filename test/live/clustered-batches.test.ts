/**
 * Batches of a machine of a cluster on their way to the thread that puts them into the log.
 */
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import {
  type PreparedBatch,
  prepareBatch,
  prepareEntry,
  type SentBatch,
} from '../../src/journal/batch.js'
import type { BatchOutcome } from '../../src/journal/outcomes.js'
import { limits } from '../../src/limits.js'
import type { TakenBatch } from '../../src/live/batch-writing.js'
import type { ChangesCalls, LogCalls } from '../../src/live/cluster-messages.js'
import { ClusteredBatches } from '../../src/live/clustered-batches.js'
import { callsOver } from '../../src/threads/calls.js'
import { until } from '../support/service/until.js'

interface Order {
  readonly batches: readonly SentBatch[]
  readonly answer: (outcomes: readonly BatchOutcome[] | undefined) => void
}

function batches(t: Test) {
  const { port1, port2 } = new MessageChannel()
  const orders: Order[] = []
  const append: LogCalls['append'] = (batches) =>
    new Promise((answer) => orders.push({ batches, answer }))
  const { failed: fail } = callsOver<ChangesCalls>(port1, { append }).tell
  t.teardown(() => port1.close())
  const told: unknown[] = []
  /** What happened, in order. */
  const happened: string[] = []
  const room = { count: 1_000 }
  const clustered = new ClusteredBatches({
    port: port2,
    roomCount: () => room.count,
    onWritten(group, outcomes) {
      const ids = group.map(({ batch }, at) => `${batch.batchId} ${outcomes[at].sequence}`)
      happened.push(`written ${ids}`)
    },
    tell: {
      failed: (reason) => void told.push({ kind: 'failed', reason }),
      recovered: () => void told.push({ kind: 'recovered' }),
    },
  })
  const take = (...batches: readonly PreparedBatch[]) => {
    for (const batch of batches) {
      const taken: TakenBatch = {
        batch,
        answer({ outcome, isFull, mayBeStored }) {
          const none = mayBeStored ? 'unknown' : 'none'
          const text = isFull ? 'full' : (outcome?.sequence ?? none)
          happened.push(`${batch.batchId}: ${text}`)
        },
      }
      clustered.take(taken)
    }
  }
  const answer = (order: Order, ...sequences: readonly number[]) =>
    order.answer(sequences.map((sequence) => ({ kind: 'written', sequence })))
  const ids = () => orders.map(({ batches }) => batches.map(({ batchId }) => batchId).join(' '))
  return { clustered, orders, told, happened, room, take, fail, answer, ids }
}

const batch = (batchId: string, changeCount = 1) =>
  prepareBatch({
    sourceId: 1,
    batchId,
    changes: Array.from({ length: changeCount }, () => ({ op: 'delete', identity: 'x' }) as const),
  })
const entry = (id: string) => prepareEntry(id, Buffer.from(id))

t.test('what came together is one group, and is answered in order', async (t) => {
  const { orders, happened, take, answer, ids } = batches(t)
  take(batch('a'), entry('b'), batch('c'))
  await until(() => orders.length === 1)
  t.same(ids(), ['a b c'])
  const [{ batches: sent }] = orders
  t.match(sent[0], { sourceId: 1, batchId: 'a', changeCount: 1 })
  t.same(Object.keys(sent[0]).toSorted(), ['batchId', 'changeCount', 'content', 'sourceId'])
  answer(orders[0], 7, 8, 3)
  await until(() => happened.length === 4)
  t.same(happened, ['written a 7,b 8,c 3', 'a: 7', 'b: 8', 'c: 3'])
})

t.test('so many groups are on their way, and what comes then goes together', async (t) => {
  const { orders, happened, take, answer, ids } = batches(t)
  const most = limits.logGroupsSentCount
  for (let at = 0; at < most; at++) {
    take(batch(`g${at}`))
    await until(() => orders.length === at + 1)
  }
  for (const id of ['x', 'y', 'z']) {
    take(batch(id))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.equal(orders.length, most)
  // Which of them is answered first does not matter.
  answer(orders[most - 1], 2)
  await until(() => orders.length === most + 1)
  t.equal(ids()[most], 'x y z')
  t.same(happened, [`written g${most - 1} 2`, `g${most - 1}: 2`])
})

t.test('a group takes no more than the journal, and the rest is the next one', async (t) => {
  const { orders, take, ids } = batches(t)
  const large = (id: string) => prepareEntry(id, new Uint8Array(limits.journalRecordBytes / 2))
  take(large('a'), large('b'), large('c'), large('d'), entry('e'))
  await until(() => orders.length === 2)
  t.same(ids(), ['a b c', 'd e'])
})

t.test(
  'where it is not known what became of a group, no batch of it is answered with it',
  async (t) => {
    const { orders, happened, take, ids } = batches(t)
    take(batch('a'), batch('b'))
    await until(() => orders.length === 1)
    orders[0].answer(undefined)
    await until(() => happened.length === 2)
    t.same(happened, ['a: unknown', 'b: unknown'])
    take(batch('a'))
    await until(() => orders.length === 2)
    t.same(ids(), ['a b', 'a'])
    orders[1].answer([{ kind: 'repeated', sequence: 4 }])
    await until(() => happened.length === 4)
    t.same(happened.slice(2), ['written a 4', 'a: 4'])
  },
)

t.test('changes for which there is no room are refused, and entries are not', async (t) => {
  const { orders, happened, room, take, answer, ids } = batches(t)
  room.count = 5
  take(batch('a', 3), batch('b', 2), batch('c', 1), entry('d'))
  await until(() => orders.length === 2)
  t.same(ids(), ['a b', 'd'])
  t.same(happened, ['c: full'])
  answer(orders[0], 1, 2)
  answer(orders[1], 3)
  await until(() => happened.includes('d: 3'))
  room.count = 0
  take(batch('e', 1), batch('f', 0))
  await until(() => orders.length === 3)
  t.same(ids()[2], 'f')
  t.ok(happened.includes('e: full'))
})

t.test('entries are sent where there are more changes than may be', async (t) => {
  const { orders, room, take, ids } = batches(t)
  room.count = -1
  take(entry('a'))
  await until(() => orders.length === 1)
  t.same(ids(), ['a'])
})

t.test('what is on its way takes up room', async (t) => {
  const { orders, happened, room, take, answer, ids } = batches(t)
  room.count = 5
  take(batch('a', 3))
  await until(() => orders.length === 1)
  take(batch('b', 3))
  await until(() => happened.length === 1)
  t.same(happened, ['b: full'])
  take(batch('c', 2))
  await until(() => orders.length === 2)
  answer(orders[0], 1)
  await until(() => happened.includes('a: 1'))
  t.same(ids(), ['a', 'c'])
})

t.test('a failure is told as often as its reason is another one, and its end once', async (t) => {
  const { told, fail } = batches(t)
  fail(undefined)
  fail('ENOSPC')
  fail('EIO')
  fail(undefined)
  fail(undefined)
  fail('ENOSPC')
  await until(() => told.length === 4)
  t.same(told, [
    { kind: 'failed', reason: 'ENOSPC' },
    { kind: 'failed', reason: 'EIO' },
    { kind: 'recovered' },
    { kind: 'failed', reason: 'ENOSPC' },
  ])
})
