import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildShard } from '../../../src/shard/build/build.js'
import { attachShard } from '../../../src/shard/layout.js'
import { writeShardFile } from '../../../src/snapshot/format/write-shard-file.js'
import { findNumbers } from '../../../src/snapshot/load/read-columns.js'
import { readNumbers } from '../../../src/snapshot/load/read-numbers.js'
import { manyColumns } from '../../support/data/columns.js'

const shard = buildShard(
  manyColumns(300),
  Uint32Array.from({ length: 300 }, (_, row) => row),
  4,
  0,
)

t.test('the numbers of a shard are read from its file', async (t) => {
  const path = join(t.testdir({}), '4-0000.shard')
  const { byteLength } = await writeShardFile(path, shard)
  const { numbers, numberOffsets } = attachShard(shard)
  const found = await readNumbers(await findNumbers(path, byteLength))
  t.strictSame(found.numberOffsets, numberOffsets)
  t.ok(Buffer.from(numbers).equals(found.numbers))
})

t.test('a file that is cut or missing is named', async (t) => {
  const path = join(t.testdir({}), '4-0000.shard')
  const error = { code: 'SnapshotCorrupt', message: /4-0000\.shard: / }
  await t.rejects(findNumbers(path, 4096), error)
  const { byteLength } = await writeShardFile(path, shard)
  truncateSync(path, byteLength - 1)
  await t.rejects(findNumbers(path, byteLength), error)
})
