/**
 * Query workers get each mask before the first task that needs it, and are never behind the moment that one
 * asks for.
 *
 * @module
 */
import { receiveMessageOnPort } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { Channel } from '../../src/pool/channel.js'
import { WorkerShards } from '../../src/pool/worker-shards.js'
import type { Increment } from '../../src/shard/delta/increment.js'
import { LiveShards } from '../../src/shard/delta/live-shards.js'
import { attachShard } from '../../src/shard/layout.js'
import { createMask, maskBytes } from '../../src/shard/mask.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

const shards = shardsOf(randomWorld('uniform', 20, seededRandom(1)), 1, 20).map(attachShard)
/** One that has nobody but the recipient of its id. */
const maskOf = (id: number) => createMask(id, [Uint32Array.of(id, id + 1), new Uint32Array(0)])

/** A channel that holds so many masks, and what a worker reads of it. */
function opened(t: Test, bounds: Partial<Record<'masksKeptCount' | 'masksKeptBytes', number>>) {
  const { masksKeptCount, masksKeptBytes } = limits
  Object.assign(limits, bounds)
  t.teardown(() => Object.assign(limits, { masksKeptCount, masksKeptBytes }))
  const channel = new Channel()
  t.teardown(() => channel.workerEnd.port.close())
  return { channel, receive: () => receiveMessageOnPort(channel.workerEnd.port)?.message }
}

t.test('a mask is sent once, and again when it was forgotten for others', async (t) => {
  const bytes = maskBytes(maskOf(1))
  for (const bounds of [{ masksKeptCount: 2 }, { masksKeptCount: 9, masksKeptBytes: 2 * bytes }]) {
    const { channel, receive } = opened(t, bounds)
    const forgotten = (id: number) => {
      channel.sendMask(maskOf(id))
      return receive()?.forgottenIds
    }
    t.same(forgotten(1), [])
    t.equal(forgotten(1), undefined)
    t.same(forgotten(2), [])
    t.equal(forgotten(1), undefined, 'which was used lately')
    t.same(forgotten(3), [2])
    t.same(forgotten(2), [1])
  }
  const { channel, receive } = opened(t, { masksKeptCount: 9, masksKeptBytes: 1 })
  channel.sendMask(maskOf(1))
  t.same(receive()?.forgottenIds, [], 'the newest is never forgotten')
  channel.sendMask(maskOf(2))
  t.same(receive()?.forgottenIds, [1])
})

/** At each moment the recipient of its number goes. */
function increment(moment: number): Increment {
  const gone = { recipients: Uint32Array.of(moment), moments: Uint32Array.of(moment) }
  const nobody = { recipients: new Uint32Array(0), ids: new Uint32Array(0) }
  const ofShard = { shardIndex: 0, gone, byContact: nobody, byPhone: nobody }
  const seals = Uint32Array.of(moment)
  return { moment, seals, shards: [ofShard], deltas: [] }
}

/** Who is there of those that masks have, and of the first few of all. */
function expectedOf(maskId: number, moment: number): number[] {
  const all = Array.from({ length: 20 }, (_, recipient) => recipient)
  return all.filter(
    (recipient) =>
      (maskId === 0 || recipient === maskId) && !(recipient >= 1 && recipient <= moment),
  )
}

t.test('a worker has the mask and the moment of each task, whenever it reads', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 200; round++) {
    const { channel, receive } = opened(t, { masksKeptCount: random.between(1, 3) })
    const live = new LiveShards(shards, [1])
    const worker = new WorkerShards(live, receive)
    /** Tasks as they wait: of a slot, or as messages. */
    const waiting: ({ maskId: number; moment: number } | 'message')[] = []
    let moment = 0
    for (let step = 0; step < 60; step++) {
      const what = random.unit()
      if (what < 0.1 && moment < 19) channel.sendIncrement(increment(++moment))
      else if (what < 0.6) {
        const maskId = random.between(0, 5)
        if (maskId !== 0) channel.sendMask(maskOf(maskId))
        if (random.unit() < 0.3) {
          channel.sendTask(ROW_BYTES, { done: () => {}, failed: () => {} })
          waiting.push('message')
        } else if (random.unit() < 0.9) {
          waiting.push({ maskId, moment: random.between(0, moment) })
        }
        // Otherwise the task is never looked at, as one that is too late.
      } else {
        const task = waiting.shift()
        if (task === 'message') t.equal(worker.nextTask().kind, 'rowBytes')
        else if (task !== undefined) {
          const plain = { countMode: 'ContactLocation', isDistinct: false, since: 0 } as const
          const asked = {
            kind: 'count',
            shardIndexes: Uint32Array.of(0),
            ...plain,
            ...task,
          } as const
          const [shard] = worker.of(asked)
          const pairs = shard.mask ?? Uint32Array.of(0, shard.recipientCount)
          const found: number[] = []
          for (let i = 0; i < pairs.length; i += 2) {
            for (let each = pairs[i]; each < pairs[i + 1]; each++) found.push(each)
          }
          t.same(found, expectedOf(task.maskId, task.moment))
        }
      }
    }
  }
})

const ROW_BYTES = {
  kind: 'rowBytes',
  shardIndex: 0,
  runs: Uint32Array.of(0, 1),
  format: { kind: 'json' },
} as const
