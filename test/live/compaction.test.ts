/**
 * The service's end of a compaction, with other programs in the place of the command.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { startCompaction } from '../../src/live/compaction.js'
import { createLineLog } from '../../src/log.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

interface Line {
  readonly level: number
  readonly msg: string
  readonly said?: string
  readonly code?: number
  readonly nextSeconds?: number
}

const log = () => {
  const lines: Line[] = []
  return { lines, log: createLineLog((line) => lines.push(JSON.parse(line))) }
}

/** One that writes a letter into a file, and then does something else. */
function fake(
  t: Test,
  then: string,
  options: { retryMs?: number; stopMs?: number; rank?: () => number | undefined } = {},
) {
  const file = join(temporaryDirectory(t), 'started')
  writeFileSync(file, '')
  const code = `const fs = require('node:fs'); fs.appendFileSync(${JSON.stringify(file)}, 'x')
const count = fs.readFileSync(${JSON.stringify(file)}).length
${then}`
  const { lines, log: to } = log()
  const compaction = startCompaction({
    dataDirectory: 'nowhere',
    auditDirectory: undefined,
    log: to,
    program: ['-e', code],
    ...options,
  })
  t.teardown(() => compaction.stop())
  return { compaction, lines, startedCount: () => readFileSync(file).length }
}

t.test('one at a time, and none before one is due', async (t) => {
  const { compaction, lines, startedCount } = fake(t, 'setTimeout(() => {}, 300)')
  t.equal(startedCount(), 0)
  compaction.due()
  await until(() => startedCount() === 1)
  const endedCount = () => lines.filter(({ msg }) => msg === 'changes are in a snapshot now').length
  compaction.due()
  compaction.due()
  t.equal(endedCount(), 0)
  await until(() => endedCount() === 2)
  t.equal(startedCount(), 2, 'what was due meanwhile follows, once')
  compaction.due()
  await until(() => endedCount() === 3)
  t.equal(startedCount(), 3)
})

t.test('what is due waits for the turn of this machine', async (t) => {
  const { compactionRankMs } = limits
  Object.assign(limits, { compactionRankMs: 300 })
  t.teardown(() => Object.assign(limits, { compactionRankMs }))
  let rank: number | undefined
  let askedCount = 0
  const { compaction, startedCount } = fake(t, '', {
    rank() {
      askedCount++
      return rank
    },
  })
  compaction.due()
  await until(() => askedCount > 1)
  t.equal(startedCount(), 0)
  rank = 0
  await until(() => startedCount() === 1)
})

t.test('one behind others begins when it has been due for longer', async (t) => {
  const { compactionRankMs } = limits
  Object.assign(limits, { compactionRankMs: 600 })
  t.teardown(() => Object.assign(limits, { compactionRankMs }))
  const { compaction, startedCount } = fake(t, '', { rank: () => 2 })
  const startedMs = performance.now()
  compaction.due()
  compaction.due()
  await until(() => startedCount() === 1)
  t.ok(performance.now() - startedMs >= 1_200)
})

t.test('what failed is tried again later and later, and says what is wrong', async (t) => {
  const { compaction, lines, startedCount } = fake(
    t,
    `if (count <= 3) { console.error('hickory: the disk is full'); process.exit(5) }`,
    { retryMs: 20 },
  )
  compaction.due()
  await until(() => lines.some(({ level }) => level === 50))
  compaction.due()
  await until(() => lines.some(({ msg }) => msg === 'changes are in a snapshot now'))
  t.equal(startedCount(), 4)
  const failed = lines.filter(({ level }) => level === 50)
  t.match(
    failed.map(({ nextSeconds }) => nextSeconds),
    [0.02, 0.04, 0.08],
  )
  t.match(failed[0], { code: 5, said: 'hickory: the disk is full', msg: /`hickory compact`/ })
  t.notOk(lines.some(({ level }) => level === 40))
})

t.test('the times between attempts are bounded, and so is what is kept of a message', async (t) => {
  const { compactionRetryMaxMs } = limits
  Object.assign(limits, { compactionRetryMaxMs: 30 })
  t.teardown(() => Object.assign(limits, { compactionRetryMaxMs }))
  const { compaction, lines } = fake(
    t,
    `process.stderr.write('x'.repeat(${limits.compactionTailBytes + 1}) + 'y', () => process.exit(1))`,
    { retryMs: 20 },
  )
  compaction.due()
  await until(() => lines.filter(({ level }) => level === 50).length >= 3)
  const failed = lines.filter(({ level }) => level === 50)
  t.same(
    failed.slice(0, 3).map(({ nextSeconds }) => nextSeconds),
    [0.02, 0.03, 0.03],
  )
  t.equal(failed[0].said?.length, limits.compactionTailBytes)
  t.ok(failed[0].said?.endsWith('y'))
})

t.test('a directory that is in use is no failure, and a warning is passed on', async (t) => {
  const { compaction, lines, startedCount } = fake(
    t,
    `if (count <= 2) process.exit(6); console.error('hickory: warning: look')`,
    { retryMs: 5 },
  )
  compaction.due()
  await until(() => lines.some(({ level }) => level === 40))
  t.equal(startedCount(), 3)
  t.equal(lines.filter(({ msg }) => /in use/.test(msg)).length, 2)
  t.match(lines.at(-1), { said: 'hickory: warning: look' })
  t.notOk(lines.some(({ level }) => level === 50))
})

t.test('a service that stops ends it, if need be by force', async (t) => {
  const idle = fake(t, '')
  await idle.compaction.stop()
  idle.compaction.due()
  const gentle = fake(t, 'setInterval(() => {}, 1000)')
  gentle.compaction.due()
  await until(() => gentle.startedCount() === 1)
  await gentle.compaction.stop()
  const stubborn = fake(t, `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`, {
    stopMs: 200,
  })
  stubborn.compaction.due()
  await until(() => stubborn.startedCount() === 1)
  await Promise.all([stubborn.compaction.stop(), stubborn.compaction.stop()])
  const failing = fake(t, 'process.exit(1)', { retryMs: 30 })
  failing.compaction.due()
  await until(() => failing.lines.some(({ level }) => level === 50))
  await failing.compaction.stop()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(failing.startedCount(), 1)
  t.equal(idle.startedCount(), 0)
  for (const { lines } of [gentle, stubborn]) t.notOk(lines.some(({ level }) => level >= 40))
})
