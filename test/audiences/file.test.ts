/**
 * The files of audiences: what is written is read, every damage is found, and the digest can be made again
 * by what docs/audience-format.md says.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { findAudience, withAudience, writeAudience } from '../../src/audiences/directory.js'
import { encodeAudience, type FrozenShard, readAudienceRuns } from '../../src/audiences/file.js'
import { limits } from '../../src/limits.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'

const ID = '0123456789abcdef0123456789abcdef'
const FAR_MS = 4_000_000_000_000

const facts = (snapshotId: string) => ({
  id: ID,
  snapshotId,
  sequence: 0,
  createdMs: 1,
  expiresMs: FAR_MS,
  keyName: 'a',
  boundaryDigest: null,
  suppressionVersion: 3,
  suppressionDigest: null,
  sources: [{ id: 1, label: 'Some', recipientCount: 8 }],
})

const shard = (region: number, ...runs: number[]): FrozenShard => ({
  sourceId: 1,
  file: `1-000${region}.shard`,
  byteLength: 4_096,
  headerCrc32: region,
  sha256: String(region).repeat(64),
  runs: Uint32Array.from(runs),
})

t.test('what is written is read', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const { header, parts } = encodeAudience(facts(snapshotId), [
    shard(0, 0, 3, 5, 9),
    shard(1, 2, 3),
  ])
  t.equal(header.recipientCount, 8)
  await writeAudience(data, header, parts)
  const name = await findAudience(data, ID, Date.now())
  if (name === undefined) throw new Error('it is not there')
  t.same(readdirSync(join(data, 'audiences')), [name.name], 'and nothing is beside it')
  const read = await withAudience(data, name, async (file, found, imageStart) => {
    t.same(found, header)
    return await readAudienceRuns(file, found, imageStart)
  })
  t.same(
    read?.map((runs) => [...runs]),
    [
      [0, 3, 5, 9],
      [2, 3],
    ],
  )
  t.equal(await findAudience(data, ID, FAR_MS), undefined, 'one that has expired is not there')
})

t.test('the digest is that of the documented text and runs', async (t) => {
  const shards = [shard(0, 0, 3, 5, 9), shard(1, 2, 3)]
  const hash = createHash('sha256').update('hickory-audience 1\n')
  for (const { sourceId, sha256, runs } of shards) {
    hash.update(`${sourceId} ${sha256} ${runs.length / 2}\n`)
    const bytes = Buffer.alloc(4 * runs.length)
    for (const [at, word] of runs.entries()) bytes.writeUInt32LE(word, 4 * at)
    hash.update(bytes)
  }
  const digest = hash.digest('hex')
  t.equal(encodeAudience(facts('000001-00000000'), shards).header.digest, digest)
  t.equal(encodeAudience(facts('000002-00000000'), shards).header.digest, digest, 'in any snapshot')
  const others = [
    [shard(0, 0, 3, 5, 9), shard(1, 2, 4)],
    [shard(0, 0, 3, 5, 9, 12, 13)],
    [shard(1, 0, 3, 5, 9), shard(0, 2, 3)],
    [],
  ]
  const digests = others.map(
    (other) => encodeAudience(facts('000001-00000000'), other).header.digest,
  )
  t.equal(new Set([...digests, digest]).size, others.length + 1)
})

t.test('an audience of as many shards as may be has a header that fits', async (t) => {
  const shards = Array.from({ length: limits.audienceShardCount }, (_, at) => ({
    ...shard(0, 1, 2),
    sourceId: limits.sourceIdMax - at,
    file: `${limits.sourceIdMax - at}-${1_000_000 + at}.shard`,
    byteLength: Number.MAX_SAFE_INTEGER,
    headerCrc32: 2 ** 32 - 1,
  }))
  const sources = Array.from({ length: limits.sourceCount }, (_, at) => ({
    id: limits.sourceIdMax - at,
    label: 'x'.repeat(limits.labelBytes),
    recipientCount: Number.MAX_SAFE_INTEGER,
  }))
  const most = { ...facts('000001-00000000'), sources }
  t.equal(encodeAudience(most, shards).header.shards.length, shards.length)
})

t.test('every damage is found', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const runs = Array.from({ length: 600 }, (_, i) => 3 * i + (i % 2))
  const { header, parts } = encodeAudience(facts(snapshotId), [shard(0, ...runs)])
  await writeAudience(data, header, parts)
  const name = await findAudience(data, ID, Date.now())
  if (name === undefined) throw new Error('it is not there')
  const path = join(data, 'audiences', name.name)
  const whole = readFileSync(path)
  const read = () => withAudience(data, name, readAudienceRuns)
  const damaged = fc.oneof(
    fc.nat({ max: whole.length - 1 }).map((length) => whole.subarray(0, length)),
    fc.constant(Buffer.concat([whole, Buffer.alloc(1)])),
    fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 })).map(([at, bit]) => {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 1 << bit
      return bytes
    }),
  )
  const property = fc.asyncProperty(damaged, async (bytes) => {
    writeFileSync(path, bytes)
    await t.rejects(read(), /found/)
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: 300 })
  writeFileSync(path, whole)
  t.ok(await read())
})

t.test('a version that is not known, and another audience, are refused', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const { header, parts } = encodeAudience(facts(snapshotId), [shard(0, 0, 3)])
  await writeAudience(data, header, parts)
  const name = await findAudience(data, ID, Date.now())
  if (name === undefined) throw new Error('it is not there')
  const other = { ...name, id: `1${ID.slice(1)}` }
  await t.rejects(withAudience(data, other, readAudienceRuns), /the name of another one/)
  const path = join(data, 'audiences', name.name)
  const bytes = readFileSync(path)
  bytes.writeUInt32LE(2, 8)
  writeFileSync(path, bytes)
  await t.rejects(withAudience(data, name, readAudienceRuns), /found format version 2, expected 1/)
})
