/**
 * Pages of audiences against plain lists: a client that reads page after page gets each recipient who is not suppressed, once,
 * in the order of the frozen list, however long the pages are. And which audiences stay in memory.
 *
 * @module
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { newAudienceId, writeAudience } from '../../src/audiences/directory.js'
import { type AudienceHeader, encodeAudience } from '../../src/audiences/file.js'
import {
  KeptAudiences,
  pageOfAudience,
  type SuppressibleAudience,
  suppressedCountsOf,
} from '../../src/audiences/loaded-audience.js'
import type { RowsPlace } from '../../src/audiences/messages.js'
import { limits } from '../../src/limits.js'
import {
  type AudienceName,
  audienceName,
  audiencesDirectory,
} from '../../src/snapshot/retention/audience-names.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { testSeed } from '../support/random/properties.js'

/** Of each shard: who is in it, and who of them is suppressed. */
interface Frozen {
  readonly sourceId: number
  readonly isSuppressed: ReadonlyMap<number, boolean>
}

const anyShard = fc.record({
  sourceId: fc.integer({ min: 1, max: 3 }),
  isSuppressed: fc
    .array(fc.tuple(fc.nat({ max: 60 }), fc.boolean()), { minLength: 1, maxLength: 40 })
    .map((pairs) => new Map(pairs.sort(([a], [b]) => a - b))),
})
const anyAudience = fc.array(anyShard, { maxLength: 5 })

t.test('pages are the frozen list without the suppressed', async (t) => {
  const property = fc.property(
    anyAudience,
    fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
    (shards, limits) => {
      const audience = audienceOf(shards)
      const expected = placesOf(shards).filter(({ isSuppressed }) => !isSuppressed)
      const found: string[] = []
      let after: number | undefined = 0
      for (let page = 0; after !== undefined && page < 500; page++) {
        const limit: number = limits[page % limits.length]
        const { shards: given, next } = pageOfAudience(audience, after, limit)
        const names = given.flatMap(({ place, runs }) => namesOf(place, runs))
        t.ok(names.length <= limit)
        t.ok(next === undefined || names.length === limit, 'a page is full unless it is the last')
        t.ok(next === undefined || next > after, 'the place moves on')
        found.push(...names)
        after = next
      }
      t.equal(after, undefined)
      t.same(
        found,
        expected.map(({ name }) => name),
      )
    },
  )
  fc.assert(property, { seed: testSeed(t), numRuns: 500 })
})

t.test('a place means the same, whoever is suppressed', async (t) => {
  const property = fc.property(anyAudience, fc.nat({ max: 250 }), (shards, place) => {
    const all = placesOf(shards)
    const after = Math.min(place, all.length)
    const given = pageOfAudience(audienceOf(shards), after, Number.POSITIVE_INFINITY)
    t.equal(given.next, undefined)
    t.same(
      given.shards.flatMap(({ place, runs }) => namesOf(place, runs)),
      all
        .slice(after)
        .filter(({ isSuppressed }) => !isSuppressed)
        .map(({ name }) => name),
    )
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 500 })
})

t.test('the suppressed are counted by source', async (t) => {
  const property = fc.property(anyAudience, (shards) => {
    const counts = [1, 2, 3].map(
      (id) =>
        placesOf(shards.filter(({ sourceId }) => sourceId === id)).filter((one) => one.isSuppressed)
          .length,
    )
    t.same(suppressedCountsOf(audienceOf(shards)), counts)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 200 })
})

/** In the order of the list, each with a name of its own. */
function placesOf(shards: readonly Frozen[]): { name: string; isSuppressed: boolean }[] {
  return shards.flatMap(({ isSuppressed }, at) =>
    [...isSuppressed].map(([recipient, is]) => ({
      name: `${at} ${recipient}`,
      isSuppressed: is,
    })),
  )
}

function namesOf(place: RowsPlace, runs: Uint32Array): string[] {
  const file = 'file' in place ? place.file : ''
  const names: string[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let each = runs[i]; each < runs[i + 1]; each++) names.push(`${file} ${each}`)
  }
  return names
}

function audienceOf(shards: readonly Frozen[]): SuppressibleAudience {
  const runs = shards.map(({ isSuppressed }) => runsOf([...isSuppressed.keys()]))
  const suppressed = shards.map(({ isSuppressed }) =>
    runsOf([...isSuppressed].filter(([, is]) => is).map(([recipient]) => recipient)),
  )
  const parts = shards.map(({ sourceId, isSuppressed }, at) => ({
    sourceId,
    recipientCount: isSuppressed.size,
    place: { snapshotId: '000001-00000000', file: String(at), byteLength: 0, headerCrc32: 0 },
    runs: runs[at],
  }))
  const sources = [1, 2, 3].map((id) => ({ id, label: '', recipientCount: 0 }))
  return { header: { sources } as unknown as AudienceHeader, parts, suppressed, version: 0 }
}

function runsOf(recipients: readonly number[]): Uint32Array {
  const pairs: number[] = []
  for (const each of recipients) {
    if (pairs.at(-1) === each) pairs[pairs.length - 1] = each + 1
    else pairs.push(each, each + 1)
  }
  return Uint32Array.from(pairs)
}

const FAR_MS = 4_000_000_000_000

/** Freezes every second recipient of a shard that nobody looks at. */
async function frozen(data: string, snapshotId: string, runCount = 1): Promise<AudienceName> {
  const facts = {
    id: newAudienceId(),
    snapshotId,
    sequence: 0,
    createdMs: 1,
    expiresMs: FAR_MS,
    keyName: null,
    boundaryDigest: null,
    suppressionVersion: 0,
    suppressionDigest: null,
    sources: [{ id: 1, label: 'Some', recipientCount: runCount }],
  }
  const runs = new Uint32Array(2 * runCount)
  for (let at = 0; at < runs.length; at++) runs[at] = at
  const shard = { sourceId: 1, file: '1-0000.shard', byteLength: 1, headerCrc32: 1 }
  const { header, parts } = encodeAudience(facts, [{ ...shard, sha256: 'a'.repeat(64), runs }])
  await writeAudience(data, header, parts)
  return audienceName(header.id, snapshotId, FAR_MS)
}

async function readAll(kept: KeptAudiences, names: readonly AudienceName[]) {
  for (const name of names) if (!(await kept.read(name))) throw new Error('it is not there')
}

async function knownOf(kept: KeptAudiences, names: readonly AudienceName[]): Promise<boolean[]> {
  const known: boolean[] = []
  for (const { id } of names) known.push((await kept.known(id)) !== undefined)
  return known
}

t.test('as many stay as may, and the one that was used longest ago goes', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const names: AudienceName[] = []
  for (let i = 0; i <= limits.audiencesKeptCount; i++) names.push(await frozen(data, snapshotId))
  const kept = new KeptAudiences(data, () => 0)
  await readAll(kept, names.slice(0, -1))
  t.same(
    await knownOf(kept, names),
    names.map((_, at) => at < limits.audiencesKeptCount),
  )
  await kept.known(names[0].id)
  await readAll(kept, names.slice(-1))
  t.same(
    await knownOf(kept, names),
    names.map((_, at) => at !== 1),
  )
})

t.test('as many bytes stay as may, and at least the one that is used', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const half = limits.audiencesKeptBytes / 2 / 8
  const names = [await frozen(data, snapshotId, half), await frozen(data, snapshotId, half)]
  const small = [await frozen(data, snapshotId)]
  const kept = new KeptAudiences(data, () => 0)
  await readAll(kept, names)
  t.same(await knownOf(kept, names), [true, true])
  await readAll(kept, small)
  t.same(await knownOf(kept, [...names, ...small]), [false, true, true])
})

t.test('what is not there any more, or damaged, is not known', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const [gone, other] = [await frozen(data, snapshotId), await frozen(data, snapshotId)]
  const kept = new KeptAudiences(data, () => 0)
  await readAll(kept, [gone, other])
  rmSync(join(audiencesDirectory(data), gone.name))
  t.same(await knownOf(kept, [gone, other]), [false, true])
  t.equal(await kept.read(gone), undefined)
  kept.forget(other.id)
  t.same(await knownOf(kept, [other]), [false])
  const path = join(audiencesDirectory(data), other.name)
  renameSync(path, `${path}.away`)
  writeFileSync(path, 'no audience')
  await t.rejects(kept.read(other), /found/)
})
