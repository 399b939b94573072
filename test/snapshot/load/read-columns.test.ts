import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildShard } from '../../../src/shard/build/build.js'
import { attachShard } from '../../../src/shard/layout.js'
import { writeShardFile } from '../../../src/snapshot/format/write-shard-file.js'
import { findPhones } from '../../../src/snapshot/load/read-columns.js'
import { readPhones } from '../../../src/snapshot/load/read-phones.js'
import { manyColumns } from '../../support/data/columns.js'

const shard = buildShard(
  manyColumns(300),
  Uint32Array.from({ length: 300 }, (_, row) => row),
  4,
  0,
)

t.test('the phones of a shard are read from its file', async (t) => {
  const path = join(t.testdir({}), '4-0000.shard')
  const { byteLength } = await writeShardFile(path, shard)
  const { phones, phoneOffsets } = attachShard(shard)
  const found = await readPhones(await findPhones(path, byteLength))
  t.strictSame(found.phoneOffsets, phoneOffsets)
  t.ok(Buffer.from(phones).equals(found.phones))
})

t.test('a file that is cut or missing is named', async (t) => {
  const path = join(t.testdir({}), '4-0000.shard')
  const error = { code: 'SnapshotCorrupt', message: /4-0000\.shard: / }
  await t.rejects(findPhones(path, 4096), error)
  const { byteLength } = await writeShardFile(path, shard)
  truncateSync(path, byteLength - 1)
  await t.rejects(findPhones(path, byteLength), error)
})
