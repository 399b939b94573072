/**
 * The thread that writes an audit, as those see it who hand lines in.
 *
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { auditClient } from '../../src/audit/client.js'
import { auditFigures, createAuditCounters } from '../../src/audit/counters.js'
import { readAudit } from '../../src/audit/directory.js'
import { entryOf } from '../../src/audit/entry.js'
import { startAudit } from '../../src/audit/thread.js'
import { verifyAudit } from '../../src/audit/verify.js'
import { limits } from '../../src/limits.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

function start(t: Test) {
  const directory = join(temporaryDirectory(t), 'audit')
  const audit = startAudit({ directory, keepDays: undefined, log: silentLog })
  return { directory, audit }
}

const entry = (note: unknown) => entryOf({ event: 'service', phase: 'test', note })

t.test('lines of several threads are written in groups, and each learns of its own', async (t) => {
  const { directory, audit } = start(t)
  const other = auditClient(audit.openPort(), audit.counters)
  const asked = Array.from({ length: 200 }, async (_, i) => {
    const client = i % 2 === 0 ? audit.client : other
    if (i % 3 === 0) client.note(entry(`note ${i}`))
    const sequence = await client.record([entry(`first ${i}`), entry(`second ${i}`)])
    return { i, sequence }
  })
  const given = await Promise.all(asked)
  await audit.stop()
  const lines = new Map([...readAudit(directory)].map(({ line }) => [line.sequence, line]))
  for (const { i, sequence } of given) {
    t.equal(lines.get(sequence)?.note, `first ${i}`)
    t.equal(lines.get(sequence + 1)?.note, `second ${i}`)
  }
  t.equal(lines.size, 200 * 2 + 67, 'notes, too')
  t.equal((await verifyAudit(directory)).damage, undefined)
  t.match(auditFigures(audit.counters), { writtenCount: 467, waitingCount: 0, lostCount: 0 })
})

t.test('while nothing can be written, lines are refused and notes wait', async (t) => {
  const { directory, audit } = start(t)
  await audit.client.record([entry('before')])
  rmSync(directory, { recursive: true })
  await t.rejects(audit.client.record([entry('refused')]), {
    code: 'AuditUnavailable',
    status: 503,
  })
  audit.client.note(entry('noted'))
  await until(() => auditFigures(audit.counters).waitingCount === 1)
  t.match(auditFigures(audit.counters), { isFailing: true, refusedCount: 1 })
  mkdirSync(directory, { mode: 0o700 })
  await until(() => !auditFigures(audit.counters).isFailing)
  await audit.client.record([entry('after')])
  await audit.stop()
  const lines = [...readAudit(directory)].map(({ line }) => line.note ?? line.phase)
  t.same(lines, ['noted', 'resumed', 'after'])
})

t.test('as many notes wait as may, and one more is counted', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port2.close())
  const counters = createAuditCounters()
  const client = auditClient(port1, counters, 20)
  for (let i = 0; i < limits.auditWaitingCount; i++) client.note('')
  t.match(auditFigures(counters), { waitingCount: limits.auditWaitingCount, lostCount: 0 })
  client.note('')
  t.match(auditFigures(counters), { waitingCount: limits.auditWaitingCount, lostCount: 1 })
  await t.rejects(client.record(['']), { code: 'AuditUnavailable' }, 'no answer in time')
})

t.test('what was lost is told of in the audit', async (t) => {
  const { directory, audit } = start(t)
  for (let i = 0; i < limits.auditWaitingCount + 5; i++) audit.client.note(entry(i))
  await audit.client.record([entry('behind')])
  await audit.stop()
  const lines = [...readAudit(directory)].map(({ line }) => line)
  t.match(
    lines.filter(({ event }) => event === 'audit'),
    [{ phase: 'lost', lineCount: 5 }],
  )
  t.equal(lines.length, limits.auditWaitingCount + 2)
  t.equal((await verifyAudit(directory)).damage, undefined)
})

t.test('a directory that cannot be made is a reason not to start', async (t) => {
  const options = { directory: '/dev/null/audit', keepDays: undefined, log: silentLog }
  t.throws(() => startAudit(options), {
    code: 'Failed',
    message: /must be a directory of this user/,
  })
})
