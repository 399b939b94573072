/**
 * A list as a body: as long as it says.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import type { BodyWriter } from '../../src/format/answer.js'
import { jsonp } from '../../src/format/jsonp.js'
import type { ListLayout } from '../../src/format/recipients.js'
import { limits } from '../../src/limits.js'
import { type Caller, callerUntil, type QueryRunner, type Task } from '../../src/pool/tasks.js'
import { isDelta } from '../../src/selection/catalogue.js'
import { List } from '../../src/selection/list.js'
import type { SourceSelection } from '../../src/selection/merge.js'
import { recipientCountOf } from '../../src/shard/runs.js'
import { columnsOf } from '../support/data/columns.js'
import { testSeed } from '../support/random/properties.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { type LocalService, localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const layouts: readonly ListLayout[] = ['json', 'ndjson', 'geojson', 'flat', 'sources', 'record']
const ROW_COUNT = 3 * limits.rowsPerFirstChunkCount

/** Labels that are escaped in every format; the last source has nobody. */
const service = localService(
  [
    { id: 1, label: '=Anwohner, "neu"', columns: worldOf(ROW_COUNT, 1) },
    { id: 7, label: '{é: 漢}', columns: worldOf(ROW_COUNT, 2) },
    { id: 2_147_483_647, label: 'Keiner', columns: columnsOf([]) },
  ],
  1_000,
)

t.test('the length is that of the bytes, for any runs, in every format', async (t) => {
  const anySteps = fc.oneof(
    fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 400, size: 'max' }),
    // Everybody.
    fc.constant([0, 1_000]),
  )
  const property = fc.asyncProperty(
    fc.array(anySteps, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(...layouts),
    fc.constantFrom(undefined, 'show.it'),
    async (steps, layout, callback) => {
      const list = new List(service.runner, selectionsOf(service, steps), layout, inTime())
      const body = callback === undefined ? list : (jsonp(callback, list) as BodyWriter)
      const byteCount = await body.byteCount?.()
      const text = await bodyText(body)
      t.equal(byteCount, Buffer.byteLength(text))
      t.equal(text, await streamed(selectionsOf(service, steps), layout, callback))
    },
  )
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 30, soak: 1_000 }) })
})

t.test('nobody is as long as the text around them', async (t) => {
  for (const layout of layouts) {
    const list = new List(service.runner, selectionsOf(service, [[]]), layout, inTime())
    t.equal(await list.byteCount(), Buffer.byteLength(await bodyText(list)), layout)
  }
  t.equal(await new List(service.runner, [], 'ndjson', inTime()).byteCount(), 0)
})

t.test('a short list is encoded once, and its bytes are not counted', async (t) => {
  for (const [rowCount, kind] of [
    [limits.rowsPerFirstChunkCount, 'encode'],
    [limits.rowsPerFirstChunkCount + 1, 'rowBytes'],
  ] as const) {
    const { runner, kinds } = fakeRunner()
    const list = listOf(runner, rowCount)
    await list.byteCount()
    t.same([...new Set(kinds)], [kind], `${rowCount}`)
    kinds.length = 0
    await bodyText(list)
    t.equal(kinds.length === 0, kind === 'encode', 'it is kept')
  }
})

t.test('before an answer has begun, its pieces have the deadline of the request', async (t) => {
  for (const rowCount of [1, limits.rowsPerFirstChunkCount + 1]) {
    const { runner, deadlines } = fakeRunner()
    await listOf(runner, rowCount, 12_345).byteCount()
    t.same(deadlines, [12_345], `${rowCount}`)
  }
})

t.test(
  'a list up to the bound is measured in pieces, some at a time, and no longer one',
  async (t) => {
    const { runner, kinds, state } = fakeRunner()
    const around = Buffer.byteLength(await bodyText(listOf(runner, 0)))
    const rowCount = limits.listMeasuredCount
    // A byte a row, less the first comma.
    t.equal(await listOf(runner, rowCount).byteCount(), around + 7 + rowCount - 1)
    t.equal(kinds.length, Math.ceil(rowCount / limits.rowsMeasuredCount))
    t.equal(state.mostRowCount, limits.rowsMeasuredCount)
    t.equal(state.mostAtOnceCount, limits.piecesMeasuredCount)
    kinds.length = 0
    t.equal(await listOf(runner, rowCount + 1).byteCount(), undefined)
    t.same(kinds, [])
  },
)

t.test('when bytes cannot be counted, nothing more is asked for', async (t) => {
  const { runner, kinds } = fakeRunner(3)
  await t.rejects(listOf(runner, limits.listMeasuredCount).byteCount(), { message: 'for the test' })
  await new Promise((resolve) => setTimeout(resolve, 10))
  t.ok(kinds.length <= 3 + limits.piecesMeasuredCount, `${kinds.length}`)
})

function worldOf(recipientCount: number, seed: number) {
  return randomWorld('uniform', recipientCount, seededRandom(seed))
}

/** Of each shard what the steps say, runs and gaps in turn; the first source has the first steps, and so on. */
function selectionsOf(
  { catalogue, shards: ofSnapshot }: LocalService,
  steps: readonly (readonly number[])[],
): SourceSelection[] {
  const shards = catalogue.shards.map((shard) =>
    isDelta(shard) ? undefined : ofSnapshot[shard.placeId],
  )
  return catalogue.sources.map((source, at) => {
    const own = [...shards.keys()].filter((index) => shards[index]?.sourceId === source.id)
    const found = own.map((shardIndex) => ({
      shardIndex,
      runs: runsOf(steps[at % steps.length], shards[shardIndex]?.recipientCount ?? 0),
    }))
    const count = found.reduce((sum, { runs }) => sum + recipientCountOf(runs), 0)
    return { source, count, shards: found }
  })
}

function runsOf(steps: readonly number[], recipientCount: number): Uint32Array {
  const runs: number[] = []
  let at = 0
  for (let step = 0; step + 1 < steps.length; step += 2) {
    const start = at + steps[step]
    at = Math.min(start + steps[step + 1], recipientCount)
    if (start < at) runs.push(start, at)
  }
  return Uint32Array.from(runs)
}

/** As it is written where nobody has asked for its length. */
function streamed(
  selections: readonly SourceSelection[],
  layout: ListLayout,
  callback: string | undefined,
): Promise<string> {
  const list = new List(service.runner, selections, layout, inTime())
  return bodyText(callback === undefined ? list : jsonp(callback, list))
}

function listOf(
  runner: QueryRunner,
  rowCount: number,
  deadlineMs: number = performance.now() + 60_000,
): List {
  const runs = rowCount === 0 ? Uint32Array.of() : Uint32Array.of(0, rowCount)
  const source = { id: 1, label: 'A' }
  const selection = { source, count: rowCount, shards: [{ shardIndex: 0, runs }] }
  return new List(runner, [selection], 'json', callerUntil(deadlineMs))
}

/** Every row has one byte. @param failAt  the task that fails */
function fakeRunner(failAt = Number.POSITIVE_INFINITY) {
  const kinds: string[] = []
  const deadlines: number[] = []
  const state = { atOnceCount: 0, mostAtOnceCount: 0, mostRowCount: 0 }
  const run = async (task: Task, caller: Caller) => {
    deadlines.push(caller.deadlineMs)
    if (task.kind !== 'encode' && task.kind !== 'rowBytes') throw new Error('nothing is selected')
    kinds.push(task.kind)
    if (kinds.length === failAt) throw new Error('for the test')
    const rowCount = recipientCountOf(task.runs)
    state.mostRowCount = Math.max(state.mostRowCount, rowCount)
    state.mostAtOnceCount = Math.max(state.mostAtOnceCount, ++state.atOnceCount)
    await null
    state.atOnceCount--
    if (task.kind === 'rowBytes') return rowCount
    return { rowCount, bytes: new Uint8Array(rowCount).fill(65), release: () => {} }
  }
  return { runner: { run } as unknown as QueryRunner, kinds, deadlines, state }
}
