import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { EncodedRows, EncodeTask, QueryRunner } from '../../src/pool/tasks.js'
import { writeRows } from '../../src/selection/write-rows.js'
import { recipientCountOf } from '../../src/shard/runs.js'
import { testSeed } from '../support/random/properties.js'
import { memorySink } from '../support/service/memory-sink.js'

const format = { kind: 'csv', prefix: '' } as const
/** Of a line of a recipient with eight digits. */
const LINE_BYTES = 11

/** Writes each recipient as a line, as many as there is room for, in memory that is wiped when released. */
function fakeRunner(roomOf: (taskIndex: number) => number) {
  const state = { taskCount: 0, heldCount: 0, mostHeldCount: 0, askedCounts: [] as number[] }
  const encode = async ({ shardIndex, runs }: EncodeTask): Promise<EncodedRows> => {
    state.askedCounts.push(recipientCountOf(runs))
    const lines = recipientsOf(runs).slice(0, Math.max(1, roomOf(state.taskCount++)))
    await null
    state.mostHeldCount = Math.max(state.mostHeldCount, ++state.heldCount)
    const bytes = Buffer.from(lines.map((recipient) => `${shardIndex} ${recipient}\n`).join(''))
    const release = () => {
      bytes.fill(0)
      state.heldCount--
    }
    return { rowCount: lines.length, bytes, release }
  }
  return { runner: { run: encode } as unknown as QueryRunner, state }
}

const shardsOf = fc.array(
  fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 3_000 })), {
    maxLength: 4,
  }),
  { maxLength: 3 },
)

t.test('every recipient is written once and in order, whatever room there is', async (t) => {
  const choices = { minLength: 1, maxLength: 8 }
  const rooms = fc.array(fc.integer({ min: 1, max: limits.rowsPerChunkCount }), choices)
  const hasRoom = fc.array(fc.boolean(), choices)
  const property = fc.asyncProperty(shardsOf, rooms, hasRoom, async (gaps, room, takes) => {
    const shards = gaps.map((each, shardIndex) => ({ shardIndex, runs: runsOf(each) }))
    const { runner, state } = fakeRunner((task) => room[task % room.length])
    const sink = memorySink((piece) => {
      if (!takes[piece % takes.length]) setImmediate(() => sink.drain())
      return takes[piece % takes.length]
    })
    await writeRows(runner, shards, format, sink)
    await new Promise((resolve) => setImmediate(resolve))
    const expected = shards.flatMap(({ shardIndex, runs }) =>
      recipientsOf(runs).map((recipient) => `${shardIndex} ${recipient}\n`),
    )
    return (
      sink.bytes().toString() === expected.join('') &&
      sink.rudeCount === 0 &&
      state.heldCount === 0 &&
      state.mostHeldCount <= limits.piecesAheadCount
    )
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: 60 })
})

t.test('while a client does not keep up, nothing is held for it', async (t) => {
  const { runner, state } = fakeRunner(() => limits.rowsPerChunkCount)
  const runs = Uint32Array.of(0, 9 * limits.rowsPerFirstChunkCount)
  const sink = memorySink(() => false)
  const written = writeRows(runner, [{ shardIndex: 0, runs }], format, sink)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  await turn()
  t.equal(state.taskCount, limits.piecesAheadCount)
  for (let piece = 1; piece < 9; piece++) {
    t.equal(state.heldCount, 0, `piece ${piece}`)
    sink.drain()
    await turn()
    t.equal(state.taskCount, limits.piecesAheadCount + piece, 'one at a time')
  }
  sink.drain()
  await written
})

t.test('pieces are large while a client keeps up, and small after it did not', async (t) => {
  const { runner, state } = fakeRunner(() => limits.rowsPerChunkCount)
  const rowCount = Math.ceil((3 * limits.keptUpBytes) / LINE_BYTES)
  const runs = Uint32Array.of(1e7, 1e7 + rowCount)
  const stallPiece = Math.ceil(limits.keptUpBytes / LINE_BYTES / limits.rowsPerFirstChunkCount) + 5
  const sink = memorySink((piece) => {
    if (piece === stallPiece) setImmediate(() => sink.drain())
    return piece !== stallPiece
  })
  await writeRows(runner, [{ shardIndex: 0, runs }], format, sink)
  t.equal(sink.bytes().length, rowCount * LINE_BYTES)
  const { rowsPerFirstChunkCount: small, rowsPerChunkCount: large } = limits
  const sizes = state.askedCounts
  const grown = sizes.indexOf(large)
  const shrunk = sizes.indexOf(small, grown)
  t.ok(grown * small * LINE_BYTES >= limits.keptUpBytes)
  t.ok(sizes.slice(0, grown).every((count) => count === small))
  t.ok(sizes.slice(grown, shrunk).every((count) => count === large))
  const again = sizes.indexOf(large, shrunk)
  t.ok((again - shrunk) * small * LINE_BYTES >= limits.keptUpBytes, 'what was waiting as well')
  t.ok(Math.max(...sizes.slice(shrunk, again)) <= small)
})

t.test('a list that fails holds nothing, and leaves no rejection unhandled', async (t) => {
  let taskCount = 0
  let heldCount = 0
  const runner = {
    async run(): Promise<EncodedRows> {
      if (taskCount++ > 0) throw new Error('for the test')
      heldCount++
      return { rowCount: 1, bytes: Buffer.from('x'), release: () => heldCount-- }
    },
  } as unknown as QueryRunner
  const runs = Uint32Array.of(0, 9 * limits.rowsPerChunkCount)
  const written = writeRows(runner, [{ shardIndex: 0, runs }], format, memorySink())
  await t.rejects(written, { message: 'for the test' })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(heldCount, 0)
})

function runsOf(gaps: readonly (readonly [gap: number, length: number])[]): Uint32Array {
  const runs: number[] = []
  for (const [gap, length] of gaps) {
    const start = (runs.at(-1) ?? 0) + gap
    runs.push(start, start + length)
  }
  return Uint32Array.from(runs)
}

function recipientsOf(runs: Uint32Array): number[] {
  const recipients: number[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let recipient = runs[i]; recipient < runs[i + 1]; recipient++) recipients.push(recipient)
  }
  return recipients
}
