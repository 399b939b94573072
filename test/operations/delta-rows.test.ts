/**
 * How the rows of recipients that came since a snapshot are fetched to be kept.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { DeltaRowsFetcher } from '../../src/operations/delta-rows.js'
import type { EncodeTask, QueryRunner } from '../../src/pool/tasks.js'
import { encodeBinary } from '../../src/shard/rows/binary-rows.js'
import { recipientCountOf } from '../../src/shard/runs.js'
import { inTime } from '../support/service/in-time.js'

/** Everybody has one phone, at a place of their own; a task gets so many bytes at most. */
function runnerOf(count: number, roomBytes: number = limits.rowBufferBytes) {
  const phone = Buffer.from('+9991')
  const shard = {
    coords: new Int32Array(2 * count).map((_, at) => (at % 2 === 0 ? -at : at)),
    phoneOffsets: new Uint32Array(count + 1).map((_, at) => at * phone.length),
    phones: Buffer.alloc(count * phone.length, phone),
  }
  const held = { taskCount: 0, releasedCount: 0, shard }
  const run = async ({ format, runs }: EncodeTask) => {
    held.taskCount++
    if (format.kind !== 'binary') throw new Error('rows that are kept are no text')
    const bytes = new Uint8Array(roomBytes)
    const { rowCount, byteCount } = encodeBinary(shard, runs, bytes)
    const release = () => {
      held.releasedCount++
      bytes.fill(0)
    }
    return { rowCount, bytes: bytes.subarray(0, byteCount), release }
  }
  return { runner: { run } as unknown as QueryRunner, held }
}

t.test('rows are fetched in pieces, and those of nobody cost no task', async (t) => {
  const { runner, held } = runnerOf(1_000, 100)
  const runs = Uint32Array.of(2, 9, 20, 21, 500, 1_000)
  const whole = new Uint8Array(100_000)
  const { byteCount } = encodeBinary(held.shard, runs, whole)
  const fetcher = new DeltaRowsFetcher()
  const deltas = [{ sourceId: 3, shardIndex: 1, runs }]
  const found = await fetcher.use(runner, deltas, inTime(), async (rows) => rows)
  t.same(found, [{ sourceId: 3, rows: Buffer.from(whole.subarray(0, byteCount)) }])
  t.ok(held.taskCount > recipientCountOf(runs) / 10)
  t.equal(held.releasedCount, held.taskCount)
  t.same(await fetcher.use(runner, [], inTime(), async (rows) => rows), [])
  t.equal(held.releasedCount, held.taskCount)
})

t.test('as many recipients as may be, and not one more', async (t) => {
  const { runner, held } = runnerOf(limits.audienceDeltaCount + 1)
  const fetcher = new DeltaRowsFetcher()
  const rowsOf = (count: number) => {
    const deltas = [
      { sourceId: 1, shardIndex: 0, runs: Uint32Array.of(0, 5) },
      { sourceId: 2, shardIndex: 1, runs: Uint32Array.of(0, count - 5) },
    ]
    return fetcher.use(runner, deltas, inTime(), async (rows) => rows)
  }
  const refused = { code: 'AudienceTooLarge', message: /1000001 recipients .* may be 1000000/ }
  await t.rejects(rowsOf(limits.audienceDeltaCount + 1), refused)
  t.equal(held.taskCount, 0)
  const [first, second] = await rowsOf(limits.audienceDeltaCount)
  t.equal(first.rows.length + second.rows.length, limits.audienceDeltaCount * 14)
})

t.test('one request at a time has rows, also behind one that fails', async (t) => {
  const { runner, held } = runnerOf(100)
  const fetcher = new DeltaRowsFetcher()
  const deltas = [{ sourceId: 3, shardIndex: 1, runs: Uint32Array.of(0, 100) }]
  let end = (_: Error): void => {}
  const failing = fetcher.use(runner, deltas, inTime(), () => {
    return new Promise((_, reject) => {
      end = reject
    })
  })
  const next = fetcher.use(runner, deltas, inTime(), async (rows) => rows.length)
  await new Promise(setImmediate)
  t.equal(held.taskCount, 1, 'the second one waits')
  end(new Error('over'))
  await t.rejects(failing, /over/)
  t.equal(await next, 1)
})
