/**
 * Changes between threads: each is answered, or given up.
 *
 * @module
 */
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { requestChanges, serveChanges } from '../../src/store/change-port.js'
import type { Change, ChangeOutcome } from '../../src/store/changes.js'

const APPLIED = {
  version: 1,
  changedCount: 0,
  unchangedCount: 0,
  listCount: 2,
  recipientCount: 3,
}

const deletion = (id: string): Change => ({ kind: 'deleteContext', id })

t.test('every change gets its own outcome', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const made: Change[] = []
  serveChanges(port1, {
    makeChange(change): ChangeOutcome {
      made.push(change)
      if ('id' in change && change.id === 'b') {
        return { isMade: false, code: 'NotFound', message: 'there is none', field: undefined }
      }
      return { isMade: true }
    },
    changeSuppressions: async ({ phones }) => ({
      isMade: true,
      applied: { ...APPLIED, changedCount: phones.length },
    }),
  })
  // Ports do not keep a process alive, and nothing else would this one.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const { change, suppress } = requestChanges(port2)
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => change(deletion(id))))
  t.match(outcomes, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'NotFound', status: 404 } },
    { status: 'fulfilled' },
  ])
  t.same(made, ['a', 'b', 'c'].map(deletion))
  const phones = ['+9991', '+9992']
  t.same(await suppress({ kind: 'suppressions', scope: 'all', phones, isRemoval: false }), {
    ...APPLIED,
    changedCount: 2,
  })
})

t.test('a change that is not made in time is given up', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const { storeChangeMs } = limits
  Object.assign(limits, { storeChangeMs: 20 })
  t.teardown(() => Object.assign(limits, { storeChangeMs }))
  const { change } = requestChanges(port2)
  const fault = { code: 'Unavailable', status: 503, message: /may still be stored/ }
  await t.rejects(change(deletion('a')), fault)
})
