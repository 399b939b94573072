/**
 * Query workers get each mask before the first task that needs it.
 *
 * @module
 */
import t from 'tap'
import { SentMasks } from '../../src/pool/sent-masks.js'
import { WorkerMasks } from '../../src/pool/worker-masks.js'
import type { WorkerMessage } from '../../src/pool/worker-messages.js'
import { attachShard } from '../../src/shard/layout.js'
import { createMask, maskBytes } from '../../src/shard/mask.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

const shards = shardsOf(randomWorld('uniform', 20, seededRandom(1)), 1, 20).map(attachShard)
/** One that has nobody but the recipient of its id. */
const maskOf = (id: number) => createMask(id, [Uint32Array.of(id, id + 1)])

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

t.test('a worker has the mask of each task, whenever it reads of masks', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 200; round++) {
    const sent = new SentMasks(random.between(1, 3))
    const messages: WorkerMessage[] = []
    const masks = new WorkerMasks(shards, () => messages.shift())
    /** Tasks as they wait: of a slot, by the id of its mask, or as messages. */
    const waiting: (number | 'message')[] = []
    for (let step = 0; step < 40; step++) {
      if (random.unit() < 0.6) {
        const id = random.between(0, 5)
        const message = id === 0 ? undefined : sent.messageFor(maskOf(id))
        if (message !== undefined) messages.push(message)
        if (random.unit() < 0.3) {
          messages.push({ kind: 'rowBytes', shardIndex: id, runs: RUNS, format: { kind: 'json' } })
          waiting.push('message')
        } else if (random.unit() < 0.9) waiting.push(id)
        // Otherwise the task is never looked at, as one that is too late.
      } else {
        const task = waiting.shift()
        if (task === 'message') t.equal(masks.nextTask().kind, 'rowBytes')
        else if (task === 0) t.equal(masks.shardsFor(0), shards)
        else if (task !== undefined) t.same(masks.shardsFor(task)[0].mask, [task, task + 1])
      }
    }
  }
})

const RUNS = Uint32Array.of(0, 1)
