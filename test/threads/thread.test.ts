import { join } from 'node:path'
import t from 'tap'
import { createAuditCounters } from '../../src/audit/counters.js'
import type { AuditCalls } from '../../src/audit/thread.js'
import { startThread } from '../../src/threads/thread.js'
import type { TlsCalls } from '../../src/tls/messages.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const title = 'the thread of a test'

t.test('where a thread fails, so does all that is asked of it', async (t) => {
  // Its message could have what it was working on.
  const thread = startThread<AuditCalls>('audit', { title, data: undefined as never })
  const failed = { code: 'Failed', message: /^the thread of a test failed: TypeError$/ }
  const asked = thread.ask.stop()
  await Promise.all([t.rejects(thread.failure, failed), t.rejects(asked, failed)])
  await t.rejects(thread.ask.stop(), failed)
  await thread.ended
  await thread.stop()
})

t.test('a thread that cannot go on says so, and what is asked of it fails', async (t) => {
  const thread = startThread<TlsCalls>('tls', { title, data: { logLevel: 'silent' } })
  const failed = { code: 'Failed', message: 'the thread of a test failed: TypeError' }
  await Promise.all([t.rejects(thread.failure, failed), t.rejects(thread.ask.listen(), failed)])
  await thread.terminate()
})

t.test('a thread that is stopped does not fail, and answers no more', async (t) => {
  const directory = join(temporaryDirectory(t), 'audit')
  const data = { directory, keepDays: undefined, counters: createAuditCounters() }
  const thread = startThread<AuditCalls>('audit', { title, data })
  let hasFailed = false
  thread.failure.catch(() => {
    hasFailed = true
  })
  await Promise.all([thread.stop(), thread.stop()])
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(hasFailed)
  await t.rejects(thread.ask.stop(), { message: 'the thread of a test has ended' })
})
