/**
 * Which audiences stay in memory.
 *
 * @module
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newAudienceId, writeAudience } from '../../src/audiences/directory.js'
import { encodeAudience } from '../../src/audiences/file.js'
import { KeptAudiences } from '../../src/audiences/kept.js'
import { limits } from '../../src/limits.js'
import {
  type AudienceName,
  audienceName,
  audiencesDirectory,
} from '../../src/snapshot/retention/audience-names.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'

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
