/**
 * What the answers of one batch may hold.
 *
 * @module
 */
import t from 'tap'
import type { Answer } from '../../src/format/answer.js'
import { BatchStopped, executeAll } from '../../src/http/batch.js'
import { limits } from '../../src/limits.js'

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
  return executeAll(async ({ bytes }) => answerOf(Number(bytes)), requests, Number.MAX_VALUE)
}

t.test('answers may hold as much as is allowed, and not one byte more', async (t) => {
  const half = limits.batchHeldBytes / 2
  t.equal((await batchOf(half, half)).heldBytes, limits.batchHeldBytes)
  const stopped = await batchOf(half, half, 1, 1).catch((fault: unknown) => fault)
  t.ok(stopped instanceof BatchStopped)
  t.match(stopped, { fault: { code: 'TooComplex' }, completedCount: 2 })
})

t.test('a batch is no part of a batch', async (t) => {
  const batch = await batchOf(1)
  t.throws(() => batch.csvRecord())
})
