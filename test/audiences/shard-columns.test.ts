/**
 * Rows from shard files against rows from memory: the same bytes, whatever the runs are.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { ShardPlace } from '../../src/audiences/messages.js'
import { encodeFrom, rowBytesFrom, ShardColumns } from '../../src/audiences/shard-columns.js'
import { limits } from '../../src/limits.js'
import { attachShard } from '../../src/shard/layout.js'
import { encodeRows } from '../../src/shard/rows/encode-rows.js'
import type { RowFormat } from '../../src/shard/rows/row-format.js'
import { recipientCountOf } from '../../src/shard/runs.js'
import { readManifest } from '../../src/snapshot/format/manifest.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { anyRecipients, columnsOf, manyColumns } from '../support/data/columns.js'
import { copyVersion1 } from '../support/data/damage.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const FORMATS: readonly RowFormat[] = [
  { kind: 'json' },
  { kind: 'jsv' },
  { kind: 'ndjson', prefix: '{"SourceId":1,"Number":"' },
  { kind: 'csv', prefix: '1,Some,' },
  { kind: 'geojson', prefix: ',{"properties":{"Number":"', isContinued: false },
]

/** The first shard of the current snapshot, in memory and on the disk. */
async function bothOf(data: string) {
  const snapshot = await openSnapshot(data)
  const { sources } = await readManifest(data, snapshot.id)
  const { file, byteLength, headerCrc32 } = sources[0].shards[0]
  const place: ShardPlace = { snapshotId: snapshot.id, file, byteLength, headerCrc32 }
  return { shard: attachShard(snapshot.shards[0]), place }
}

/** All rows, in as many pieces as they take. */
function allFrom(columns: ShardColumns, runs: Uint32Array, format: RowFormat): string {
  const pieces: Uint8Array[] = []
  let rest = [...runs]
  while (rest.length > 0) {
    const { rowCount, bytes } = encodeFrom(columns, Uint32Array.from(rest), format)
    if (rowCount === 0) throw new Error('no row has room')
    pieces.push(bytes)
    let left = rowCount
    while (left > 0 && left >= rest[1] - rest[0]) {
      left -= rest[1] - rest[0]
      rest = rest.slice(2)
    }
    if (left > 0) rest[0] += left
  }
  return Buffer.concat(pieces).toString()
}

const into = new Uint8Array(64 << 20)

function fromMemory(
  shard: ReturnType<typeof attachShard>,
  runs: Uint32Array,
  format: RowFormat,
): string {
  const { rowCount, byteCount } = encodeRows(shard, runs, format, into)
  if (rowCount !== recipientCountOf(runs)) throw new Error('too many rows for a test')
  return Buffer.from(into.subarray(0, byteCount)).toString()
}

/** Ascending, disjoint and apart. */
function runsBelow(count: number, places: readonly number[]): Uint32Array {
  const ends = [...new Set(places.map((place) => place % (count + 1)))].sort((a, b) => a - b)
  return Uint32Array.from(ends.length % 2 === 0 ? ends : ends.slice(1))
}

t.test('random runs of a large shard give the same bytes', async (t) => {
  const data = t.testdir({})
  const count = 150_000
  await publishTest(data, 1, manyColumns(count))
  const { shard, place } = await bothOf(data)
  const columns = await ShardColumns.open(data, place)
  t.teardown(() => columns.close())
  const anyPlaces = fc.oneof(
    fc.array(fc.nat({ max: count }), { minLength: 2, maxLength: 40 }),
    fc.array(fc.integer({ min: 70_000, max: 72_000 }), { minLength: 2, maxLength: 200 }),
    fc.constantFrom([0, count], [0, 1], [count - 1, count], [0, 1, 513, 514, 1_027, 1_028]),
  )
  const property = fc.property(anyPlaces, fc.constantFrom(...FORMATS), (places, format) => {
    const runs = runsBelow(count, places)
    const expected = fromMemory(shard, runs, format)
    t.equal(allFrom(columns, runs, format) === expected, true)
    t.equal(rowBytesFrom(columns, runs, format), Buffer.byteLength(expected))
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 15, soak: 30 }) })
  t.ok(count > 2 * limits.audienceReadCount, 'some runs are read in several windows')
})

t.test('phones and positions of every kind', async (t) => {
  const property = fc.asyncProperty(anyRecipients, async (recipients) => {
    const data = t.testdir({})
    await publishTest(data, 1, columnsOf(recipients))
    const { shard, place } = await bothOf(data)
    const columns = await ShardColumns.open(data, place)
    const runs = Uint32Array.of(0, recipients.length)
    for (const format of FORMATS) {
      t.equal(allFrom(columns, runs, format), fromMemory(shard, runs, format))
    }
    columns.close()
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 5, soak: 8 }) })
})

t.test('files of format version 1 are read, too', async (t) => {
  const data = t.testdir({})
  copyVersion1(data)
  const { shard, place } = await bothOf(data)
  const columns = await ShardColumns.open(data, place)
  const runs = Uint32Array.of(0, shard.recipientCount)
  t.equal(allFrom(columns, runs, FORMATS[0]), fromMemory(shard, runs, FORMATS[0]))
  columns.close()
})

t.test('a damaged block is found before anything of it is given', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(1_000))
  const { place } = await bothOf(data)
  const path = join(data, 'snapshots', place.snapshotId, place.file)
  const bytes = readFileSync(path)
  bytes[bytes.length - 100] ^= 1
  writeFileSync(path, bytes)
  const columns = await ShardColumns.open(data, place)
  t.throws(() => encodeFrom(columns, Uint32Array.of(0, 1), FORMATS[0]), /CRC-32/)
  columns.close()
  const other = { ...place, headerCrc32: place.headerCrc32 ^ 1 }
  await t.rejects(ShardColumns.open(data, other), /header CRC-32/)
})
