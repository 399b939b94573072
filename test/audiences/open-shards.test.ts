/**
 * How many shard files are open, and what becomes of a damaged one.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deleteAudience, findAudience } from '../../src/audiences/directory.js'
import { freeze } from '../../src/audiences/freeze.js'
import type { FreezeOrder, ShardPlace } from '../../src/audiences/messages.js'
import { OpenShards } from '../../src/audiences/open-shards.js'
import { limits } from '../../src/limits.js'
import { snapshotsDirectory } from '../../src/snapshot/directory.js'
import { readManifest } from '../../src/snapshot/format/manifest.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'

async function placeOf(data: string, snapshotId: string): Promise<ShardPlace> {
  const [{ shards }] = (await readManifest(data, snapshotId)).sources
  const { file, byteLength, headerCrc32 } = shards[0]
  return { snapshotId, file, byteLength, headerCrc32 }
}

/** Shard files below a directory that this process has open, or files of another kind. */
function openCount(data: string, isOne = (link: string) => link.endsWith('.shard')): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.startsWith(data) && isOne(link)).length
}

/** The same file under many names, as if each were a shard of its own. */
async function manyPlaces(data: string, count: number): Promise<ShardPlace[]> {
  const place = await placeOf(data, await publishTest(data, 1, manyColumns(100)))
  const directory = join(snapshotsDirectory(data), place.snapshotId)
  const bytes = readFileSync(join(directory, place.file))
  return Array.from({ length: count }, (_, at) => {
    const file = `7-${at}.shard`
    writeFileSync(join(directory, file), bytes)
    return { ...place, file }
  })
}

t.test('as many are open as may be, and one in use is not closed', async (t) => {
  const data = t.testdir({})
  const places = await manyPlaces(data, limits.audienceOpenShardCount + 1)
  const shards = new OpenShards(data)
  const countOf = (place: ShardPlace) => shards.use(place, (columns) => columns.recipientCount)
  for (const place of places.slice(0, -1)) t.equal(await countOf(place), 100)
  t.equal(openCount(data), limits.audienceOpenShardCount)
  await shards.use(places[0], async (columns) => {
    for (const place of places.slice(1)) await countOf(place)
    t.equal(openCount(data), limits.audienceOpenShardCount + 1)
    t.equal(columns.phones(0, 100).phoneOffsets.length, 101)
  })
  t.equal(openCount(data), limits.audienceOpenShardCount)
  shards.close()
  await countOf(places[3])
  shards.close()
  // The files close when their opening has settled.
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(openCount(data), 0)
})

t.test('a damaged file is read again once it was replaced', async (t) => {
  const data = t.testdir({})
  const [place] = await manyPlaces(data, 1)
  const path = join(snapshotsDirectory(data), place.snapshotId, place.file)
  const whole = readFileSync(path)
  const damaged = Buffer.from(whole)
  damaged[damaged.length - 1] ^= 1
  writeFileSync(path, damaged)
  const shards = new OpenShards(data)
  const phones = () => shards.use(place, (columns) => columns.phones(0, 100).phones.length)
  await t.rejects(phones(), /CRC-32/)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(openCount(data), 0)
  writeFileSync(path, whole)
  t.ok(await phones())
  shards.close()
})

t.test('the file of an audience is closed when that is deleted, once nobody uses it', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  // At 0, 0, and the phone 9991.
  const rows = Buffer.from('00000000000000000439393931', 'hex')
  const [first, second] = await Promise.all(
    [1, 2].map(() => freeze(data, orderOf(snapshotId, rows), null)),
  )
  const places = await Promise.all(
    [first, second].map(async ({ id }) => {
      const audience = await findAudience(data, id, Date.now())
      if (audience === undefined) throw new Error('it is not there')
      return { audience, sourceId: 1 }
    }),
  )
  const shards = new OpenShards(data)
  const countOf = () => openCount(data, (link) => link.includes('/audiences/'))
  for (const place of places) t.equal(await shards.use(place, (one) => one.recipientCount), 1)
  t.equal(countOf(), 2)
  await shards.use(places[0], async () => {
    shards.closeAudience(first.id)
    t.equal(countOf(), 2)
  })
  await new Promise(setImmediate)
  t.equal(countOf(), 1)
  shards.closeAudience(second.id)
  await new Promise(setImmediate)
  t.equal(countOf(), 0)
  await deleteAudience(data, places[0].audience)
  const unknown = shards.use(places[0], (one) => one.recipientCount)
  await t.rejects(unknown, { code: 'UnknownAudience' })
})

function orderOf(snapshotId: string, rows: Uint8Array): FreezeOrder {
  return {
    kind: 'freeze',
    snapshotId,
    sequence: 1,
    sources: [{ id: 1, label: 'Some' }],
    shards: [],
    deltas: [{ sourceId: 1, rows }],
    suppressionVersion: 0,
    lifetimeSeconds: 60,
    asker: { keyName: null, boundaryDigest: null, isForAll: true },
  }
}
