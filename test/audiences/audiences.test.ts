/**
 * How many requests for audiences a front thread takes.
 *
 * @module
 */
import t from 'tap'
import { startAudiences } from '../../src/audiences/audiences.js'
import { limits } from '../../src/limits.js'
import { silentLog } from '../support/data/store.js'

t.test('as many requests as may be are let in, and not one more', async (t) => {
  const audiences = startAudiences({ dataDirectory: t.testdir({}), log: silentLog })
  const listeners: (() => void)[] = []
  const caller = () => ({
    deadlineMs: performance.now() + 1_000,
    gone: false,
    whenOver: (listener: () => void) => void listeners.push(listener),
  })
  for (let i = 0; i < limits.audienceListCount; i++) audiences.admit(caller())
  t.throws(() => audiences.admit(caller()), { code: 'Overloaded' })
  listeners[0]()
  audiences.admit(caller())
  t.throws(() => audiences.admit(caller()), { code: 'Overloaded' })
  await audiences.close()
  const late = audiences.ask<'list'>(
    { kind: 'list', asker: { keyName: null, boundaryDigest: null, isForAll: true } },
    caller(),
  )
  await t.rejects(late, { code: 'Unavailable' })
})
