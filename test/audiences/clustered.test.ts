/**
 * Audiences of a machine of a cluster, of which the other machines hear.
 *
 * @module
 */
import { MessagePort } from 'node:worker_threads'
import t from 'tap'
import type { Audiences } from '../../src/audiences/audiences.js'
import {
  clusteredAudiences,
  requestSharedAudiences,
  type SharedAudiences,
  serveSharedAudiences,
} from '../../src/audiences/clustered.js'
import type { AudienceAsker, AudienceOrder } from '../../src/audiences/messages.js'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { inTime, within } from '../support/service/in-time.js'

const ASKER: AudienceAsker = { keyName: null, boundaryDigest: null, isForAll: true }
const OPEN = { kind: 'open', id: 'x', after: 0, limit: 1, asker: ASKER } as const
const DAMAGED = new ServiceError('AudienceDamaged', 'damaged')
const NOT_HERE = new ServiceError('AudienceNotHere', 'not here')
const UNKNOWN = new ServiceError('UnknownAudience', 'unknown')

/** Notes what is done, in order; answers of its own audiences are given one after the other. */
function world(answers: unknown[], more: Partial<SharedAudiences> = {}) {
  const done: unknown[] = []
  const own: Audiences = {
    async ask(order: AudienceOrder) {
      done.push(order.kind)
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer as never
    },
    admit: () => void done.push('admit'),
    close: async () => void done.push('close'),
  }
  const shared: SharedAudiences = {
    share: async (made) => void done.push(['share', made]),
    remove: async (id) => void done.push(['remove', id]),
    bring: async (id, isDamaged, waitMs) => void done.push(['bring', id, isDamaged, waitMs]),
    ...more,
  }
  const lagging = { is: false }
  const audiences = clusteredAudiences({ own, shared, isLagging: () => lagging.is })
  return { done, audiences, lagging }
}

t.test('one that is frozen is told of before anybody is answered', async (t) => {
  const made = { id: 'x', digest: 'of it' }
  const { audiences, done } = world([{ id: 'x' }, made])
  const order = { kind: 'freeze' } as never
  t.same(await audiences.ask<'freeze'>(order, inTime()), { id: 'x' })
  t.same(done, ['freeze', 'describe', ['share', made]])
  const refused = world([{ id: 'x' }, made], { share: () => Promise.reject(UNKNOWN) })
  await t.rejects(refused.audiences.ask<'freeze'>(order, inTime()), UNKNOWN)
})

t.test('what is not here is brought, and read then', async (t) => {
  const { audiences, done } = world([NOT_HERE, { page: 1 }])
  t.same(await audiences.ask<'open'>(OPEN, inTime()), { page: 1 })
  t.match(done, ['open', ['bring', 'x', false, limits.audienceBroughtMs], 'open'])
  const late = world([NOT_HERE], { bring: () => Promise.reject(NOT_HERE) })
  await t.rejects(late.audiences.ask<'open'>(OPEN, inTime()), NOT_HERE)
  t.same(late.done, ['open'])
})

t.test('nobody is waited for longer than the request may take', async (t) => {
  const { audiences, done } = world([NOT_HERE, { page: 1 }])
  await audiences.ask<'open'>(OPEN, within(limits.audienceReadMs + 500))
  const [, [, , , waitMs]] = done as [unknown, [unknown, unknown, unknown, number]]
  t.ok(waitMs > 0 && waitMs <= 500, String(waitMs))
  const over = world([NOT_HERE, { page: 1 }])
  await over.audiences.ask<'open'>(OPEN, within(0))
  t.match(over.done, ['open', ['bring', 'x', false, 1], 'open'])
})

t.test('what is damaged is fetched anew, once for a request', async (t) => {
  const { audiences, done } = world([DAMAGED, DAMAGED])
  await t.rejects(audiences.ask<'open'>(OPEN, inTime()), DAMAGED)
  t.match(done, ['open', ['bring', 'x', true, Number], 'open'])
})

t.test('one is removed on all machines by whoever may', async (t) => {
  const order = { kind: 'remove', id: 'x', asker: ASKER } as const
  const { audiences, done } = world([{ id: 'x' }])
  t.same(await audiences.ask<'remove'>(order, inTime()), { id: 'x' })
  t.same(done, ['remove', ['remove', 'x']])
  const foreign = world([UNKNOWN])
  await t.rejects(foreign.audiences.ask<'remove'>(order, inTime()), UNKNOWN)
  t.same(foreign.done, ['remove'])
})

t.test('a machine that lags does not say that there is none', async (t) => {
  const { audiences, lagging } = world([UNKNOWN, UNKNOWN, DAMAGED])
  await t.rejects(audiences.ask<'open'>(OPEN, inTime()), UNKNOWN)
  lagging.is = true
  await t.rejects(audiences.ask<'open'>(OPEN, inTime()), { code: 'Lagging', status: 503 })
})

t.test('faults cross threads', async (t) => {
  const faults: unknown[] = []
  const strange = new Error('something else')
  const done: unknown[] = []
  const shared: SharedAudiences = {
    share: () => Promise.reject(new ServiceError('TooManyAudiences', 'too many', 'Id')),
    remove: () => Promise.reject(strange),
    bring: async (...given) => void done.push(given),
  }
  const port = serveSharedAudiences(shared, (fault) => faults.push(fault))
  t.ok(port instanceof MessagePort)
  const requests = requestSharedAudiences(port)
  // The port alone keeps no thread.
  const timer = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(timer))
  t.teardown(() => port.close())
  const refused = { code: 'TooManyAudiences', message: 'too many', field: 'Id', status: 409 }
  await t.rejects(requests.share({} as never), refused)
  await t.rejects(requests.remove('x'), { code: 'Unavailable', message: /the log of the service/ })
  t.same(faults, [strange])
  await requests.bring('x', true, 5)
  t.same(done, [['x', true, 5]])
})
