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
import {
  encodeAudience,
  type FrozenShard,
  frozenDelta,
  readAudienceRuns,
} from '../../src/audiences/file.js'
import { KeptAudiences } from '../../src/audiences/loaded-audience.js'
import { ShardColumns } from '../../src/audiences/shard-columns.js'
import { limits } from '../../src/limits.js'
import { encodeBinary } from '../../src/shard/rows/binary-rows.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

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

/** Of people who came since a snapshot. */
function delta(sourceId: number, people: readonly (readonly [number, number, string])[]) {
  const phoneOffsets = new Uint32Array(people.length + 1)
  for (const [at, [, , phone]] of people.entries()) {
    phoneOffsets[at + 1] = phoneOffsets[at] + phone.length
  }
  const columns = {
    coords: Int32Array.from(people.flatMap((person) => person.slice(0, 2)) as number[]),
    phones: Buffer.from(people.map(([, , phone]) => phone).join('')),
    phoneOffsets,
  }
  const rows = new Uint8Array(people.length * (9 + limits.phoneBytes))
  const { byteCount } = encodeBinary(columns, Uint32Array.of(0, people.length), rows)
  return frozenDelta(sourceId, rows.subarray(0, byteCount))
}

const COME = [
  [-5, 7, '+9991'],
  [11, -13, '+99922'],
  [-5, 7, '+9991'],
] as const

t.test('whoever came since the snapshot is written, and read by pieces', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  // Of three blocks, with a source that ends within one.
  const many = Array.from({ length: 40_000 }, (_, at) => {
    return [at, -at, `+999${String(at).padStart(60, '0')}`] as const
  })
  const sources = [1, 2, 4].map((id) => ({ id, label: `${id}`, recipientCount: 0 }))
  const later = { ...facts(snapshotId), sequence: 9, sources }
  const shards = [shard(0, 0, 3), { ...shard(1, 2, 3), sourceId: 4 }]
  const halves = [many.slice(0, 13_000), many.slice(13_000, 26_000), many.slice(26_000)]
  const deltas = [delta(1, COME), delta(2, halves[0].concat(halves[1])), delta(4, halves[2])]
  const { header, parts } = encodeAudience(later, shards, deltas)
  t.equal(header.recipientCount, 4 + 3 + many.length)
  t.equal(header.rowBlockCrc32s.length, 3)
  await writeAudience(data, header, parts)
  const name = await findAudience(data, ID, Date.now())
  if (name === undefined) throw new Error('it is not there')
  const read = await new KeptAudiences(data, () => 0).read(name)
  t.same(read?.header, header)
  t.match(
    read?.parts.map(({ sourceId, place, runs }) => [sourceId, 'audience' in place, [...runs]]),
    [
      [1, false, [0, 3]],
      [1, true, [0, 3]],
      [2, true, [0, 26_000]],
      [4, false, [2, 3]],
      [4, true, [0, 14_000]],
    ],
  )
  for (const [at, { sourceId, recipientCount }] of deltas.entries()) {
    const columns = await ShardColumns.open(data, { audience: name, sourceId })
    await columns.verify(0, recipientCount)
    const { coords, phones, phoneOffsets } = columns.rows(1, recipientCount)
    const own = [COME, many.slice(0, 26_000), many.slice(26_000)][at].slice(1)
    t.same(
      [...coords],
      own.flatMap((person) => person.slice(0, 2)),
    )
    t.equal(Buffer.from(phones).toString(), own.map(([, , phone]) => phone).join(''))
    t.equal(phoneOffsets.at(-1), phones.length)
    t.throws(() => columns.rows(0, recipientCount + 1), /found no recipients/)
    columns.close()
  }
  const other = ShardColumns.open(data, { audience: name, sourceId: 3 })
  await t.rejects(other, /found no rows of source 3/)
})

t.test('the digest of who came is that of the documented text and columns', async (t) => {
  const hash = createHash('sha256').update('hickory-audience 1\n')
  hash.update(`1 ${'0'.repeat(64)} 1\n`).update(Buffer.from(Uint32Array.of(0, 3).buffer))
  hash.update('1 rows 3 16\n')
  for (const [lng, lat] of COME) hash.update(Buffer.from(Int32Array.of(lng, lat).buffer))
  hash.update(Buffer.from(Uint32Array.of(0, 5, 11, 16).buffer)).update('+9991+99922+9991')
  const digestOf = (some: Parameters<typeof encodeAudience>[0], people = delta(1, COME)) =>
    encodeAudience(some, [shard(0, 0, 3)], [people]).header.digest
  const digest = hash.digest('hex')
  t.equal(digestOf(facts('000001-00000000')), digest)
  t.equal(digestOf({ ...facts('000002-00000000'), sequence: 5 }), digest, 'at any sequence')
  const others = [
    delta(2, COME),
    delta(1, COME.slice(0, 2)),
    delta(1, [COME[1], COME[0], COME[2]]),
    delta(1, [COME[0], [11, -13, '+99923'], COME[2]]),
    delta(1, [COME[0], [11, -14, '+99922'], COME[2]]),
    delta(1, [[-5, 7, '+9991+'], [11, -13, '99922'], COME[2]]),
  ]
  const digests = others.map((each) => digestOf(facts('000001-00000000'), each))
  t.equal(new Set([...digests, digest]).size, others.length + 1)
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

for (const deltas of [[], [delta(1, COME), delta(2, COME)]]) {
  t.test(`every damage is found, with ${deltas.length} deltas`, async (t) => {
    const data = t.testdir({})
    const snapshotId = await publishTest(data, 1, manyColumns(10))
    const runs = Array.from({ length: 600 }, (_, i) => 3 * i + (i % 2))
    const { header, parts } = encodeAudience(facts(snapshotId), [shard(0, ...runs)], deltas)
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
    await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 120, soak: 300 }) })
    writeFileSync(path, whole)
    t.ok(await read())
  })
}

t.test(
  'another version, as one from before a release, and another audience are refused',
  async (t) => {
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
    t.equal(bytes.readUInt32LE(8), 2, 'also of a time without changes')
    for (const version of [1, 3]) {
      bytes.writeUInt32LE(version, 8)
      writeFileSync(path, bytes)
      await t.rejects(
        withAudience(data, name, readAudienceRuns),
        new RegExp(`found format version ${version}, expected 2`),
      )
    }
  },
)
