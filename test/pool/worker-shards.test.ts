/**
 * Query workers get each mask before the first task that needs it, and are never behind the moment that one
 * asks for.
 *
 * @module
 */
import t from 'tap'
import { SentMasks } from '../../src/pool/sent-masks.js'
import type { WorkerMessage } from '../../src/pool/worker-messages.js'
import { WorkerShards } from '../../src/pool/worker-shards.js'
import { LiveShards } from '../../src/shard/delta/live-shards.js'
import { attachShard } from '../../src/shard/layout.js'
import { createMask, maskBytes } from '../../src/shard/mask.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

const shards = shardsOf(randomWorld('uniform', 20, seededRandom(1)), 1, 20).map(attachShard)
/** One that has nobody but the recipient of its id. */
const maskOf = (id: number) => createMask(id, [Uint32Array.of(id, id + 1), new Uint32Array(0)])

t.test('a mask is sent once, and again when it was forgotten for others', async (t) => {
  const bytes = maskBytes(maskOf(1))
  for (const sent of [new SentMasks(2), new SentMasks(9, 2 * bytes)]) {
    const forgotten = (id: number) => sent.messageFor(maskOf(id))?.forgottenIds
    t.same(forgotten(1), [])
    t.equal(forgotten(1), undefined)
    t.same(forgotten(2), [])
    t.equal(forgotten(1), undefined, 'which is needed lately')
    t.same(forgotten(3), [2])
    t.same(forgotten(2), [1])
  }
  const tiny = new SentMasks(9, 1)
  t.same(tiny.messageFor(maskOf(1))?.forgottenIds, [], 'the newest is never forgotten')
  t.same(tiny.messageFor(maskOf(2))?.forgottenIds, [1])
})

/** At each moment the recipient of its number goes. */
function increment(moment: number): Extract<WorkerMessage, { kind: 'increment' }> {
  const gone = { recipients: Uint32Array.of(moment), moments: Uint32Array.of(moment) }
  const nobody = { recipients: new Uint32Array(0), ids: new Uint32Array(0) }
  const ofShard = { shardIndex: 0, gone, byContact: nobody, byPhone: nobody }
  const seals = Uint32Array.of(moment)
  return { kind: 'increment', increment: { moment, seals, shards: [ofShard], deltas: [] } }
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
    const sent = new SentMasks(random.between(1, 3))
    const messages: WorkerMessage[] = []
    const live = new LiveShards(shards, [1])
    const worker = new WorkerShards(live, () => messages.shift())
    /** Tasks as they wait: of a slot, or as messages. */
    const waiting: ({ maskId: number; moment: number } | 'message')[] = []
    let moment = 0
    for (let step = 0; step < 60; step++) {
      const what = random.unit()
      if (what < 0.1 && moment < 19) messages.push(increment(++moment))
      else if (what < 0.6) {
        const maskId = random.between(0, 5)
        const message = maskId === 0 ? undefined : sent.messageFor(maskOf(maskId))
        if (message !== undefined) messages.push(message)
        if (random.unit() < 0.3) {
          messages.push({ kind: 'rowBytes', shardIndex: 0, runs: RUNS, format: { kind: 'json' } })
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

const RUNS = Uint32Array.of(0, 1)
