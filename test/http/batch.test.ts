/**
 * What the answers of one batch may hold, and that a batch keeps no other client waiting.
 *
 * @module
 */
import t from 'tap'
import type { Answer } from '../../src/format/answer.js'
import { BatchStopped, executeAll } from '../../src/http/batch.js'
import { limits } from '../../src/limits.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime, within } from '../support/service/in-time.js'

const REQUEST_COUNT = 20

const answerOf = (heldBytes: number): Answer => ({
  headers: {},
  heldBytes,
  json: () => '{}',
  csv: () => '',
  csvRecord: () => ({ header: 'a\r\n', row: '\r\n' }),
})

/** A batch whose answers hold so many bytes each. */
function batchOf(...bytesEach: number[]): Promise<Answer> {
  const requests = bytesEach.map((bytes) => ({ bytes }))
  return executeAll(async ({ bytes }) => answerOf(Number(bytes)), requests, inTime())
}

t.test('answers may hold as much as is allowed, and not one byte more', async (t) => {
  const half = limits.batchHeldBytes / 2
  t.equal((await batchOf(half, half)).heldBytes, limits.batchHeldBytes)
  const stopped = await batchOf(half, half, 1, 1).catch((fault: unknown) => fault)
  t.ok(stopped instanceof BatchStopped)
  t.match(stopped, { fault: { code: 'TooComplex' }, completedCount: 2 })
})

t.test('as NDJSON each answer is a line, also where there is none', async (t) => {
  const execute = async ({ none }: JsonObject) => (none ? undefined : answerOf(0))
  const batch = await executeAll(execute, [{}, { none: true }, {}], inTime())
  t.equal(await bodyText(batch.ndjson?.() ?? ''), '{}\nnull\n{}\n')
})

t.test('a page is no part of a batch, which has no place for where to go on', async (t) => {
  const execute = async () => ({ ...answerOf(0), isPage: true })
  const stopped = await executeAll(execute, [{}], inTime()).catch((fault: unknown) => fault)
  t.match(stopped, { fault: { code: 'InvalidRequest', field: 'limit' }, completedCount: 0 })
})

t.test('a batch is no part of a batch', async (t) => {
  const batch = await batchOf(1)
  t.throws(() => batch.csvRecord())
})

/** Turns of the event loop that begin while something is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turnCount = 0
  let next = setImmediate(function count() {
    turnCount++
    next = setImmediate(count)
  })
  await work()
  clearImmediate(next)
  return turnCount
}

t.test(
  'others are answered between the requests of a batch, and between its answers',
  async (t) => {
    const requests = Array.from({ length: REQUEST_COUNT }, () => ({}))
    const carriedOut = () => executeAll(async () => answerOf(0), requests, inTime())
    const answer = await carriedOut()
    const works = [
      carriedOut,
      () => bodyText(answer.json()),
      () => bodyText(answer.csv('flat')),
      () => bodyText(answer.ndjson?.() ?? ''),
    ]
    for (const work of works) t.ok((await turnsDuring(work)) >= REQUEST_COUNT - 1)
  },
)

t.test('a batch that takes too long ends where it is', async (t) => {
  const stopped = await executeAll(async () => answerOf(0), [{}, {}], within(-1)).catch(
    (fault: unknown) => fault,
  )
  t.match(stopped, { fault: { code: 'Unavailable' }, completedCount: 0 })
})

t.test('the header says that there are more warnings than an answer may have', async (t) => {
  const warnings = [{ Code: 'EmptySource', Message: 'x' }]
  const execute = async () => ({ ...answerOf(0), warnings })
  const requests = Array.from({ length: limits.warningCount + 1 }, () => ({}))
  const codesOf = async (count: number) => {
    const { headers } = await executeAll(execute, requests.slice(0, count), inTime())
    return JSON.parse(headers['X-Warnings']).map(({ Code }: { Code: string }) => Code)
  }
  const all = await codesOf(limits.warningCount)
  t.same(all, Array(limits.warningCount).fill('EmptySource'))
  t.same(await codesOf(limits.warningCount + 1), [...all.slice(1), 'MoreWarnings'])
})
