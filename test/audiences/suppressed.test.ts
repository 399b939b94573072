/**
 * Who of an audience is suppressed, when the store is the one that it was frozen by, and when it is another
 * one with a version that looks like it.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { AudienceHeader } from '../../src/audiences/file.js'
import type { SuppressibleAudience } from '../../src/audiences/loaded-audience.js'
import { OpenShards } from '../../src/audiences/open-shards.js'
import { SuppressionLook } from '../../src/audiences/suppressed.js'
import { recipientCountOf } from '../../src/shard/runs.js'
import { readManifest } from '../../src/snapshot/format/manifest.js'
import { createStore } from '../../src/store/store.js'
import { makeSuppressions } from '../../src/store/suppressions.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** A store of its own, and what it looks for among the recipients of a directory. */
async function lookOf(t: Test, data: string) {
  const own = temporaryDirectory(t)
  await (await createStore(own, silentLog)).close()
  const tables = openTables(storeDirectory(own), 'write')
  const shards = new OpenShards(data)
  t.teardown(async () => {
    shards.close()
    await tables.close()
  })
  const change = (isRemoval: boolean, ...phones: string[]) =>
    makeSuppressions(tables, [{ kind: 'suppressions', scope: 'all', phones, isRemoval }], silentLog)
  return { look: new SuppressionLook(tables, shards), change }
}

async function frozenWorld(data: string) {
  const snapshotId = await publishTest(data, 1, manyColumns(1_000))
  const { sources } = await readManifest(data, snapshotId)
  const { file, byteLength, headerCrc32 } = sources[0].shards[0]
  const runs = Uint32Array.of(0, 1_000)
  const columns = manyColumns(1_000)
  const phoneAt = (at: number) =>
    Buffer.from(
      columns.phones.subarray(columns.phoneOffsets[at], columns.phoneOffsets[at + 1]),
    ).toString()
  const read = (
    suppressionVersion: number,
    suppressionDigest: string | null,
    look: SuppressionLook,
  ) => {
    const place = { snapshotId, file, byteLength, headerCrc32 }
    const parts = [{ sourceId: 1, recipientCount: 1_000, place, runs }]
    const header = { snapshotId, suppressionVersion, suppressionDigest }
    const known = header as unknown as AudienceHeader
    const suppressed = [new Uint32Array(0)]
    return { header: known, parts, suppressed, version: look.versionOf(known) }
  }
  return { read, phoneAt }
}

const countOf = ({ suppressed }: SuppressibleAudience) => recipientCountOf(suppressed[0])

t.test('changes since the freezing are looked for', async (t) => {
  const data = t.testdir({})
  const { read, phoneAt } = await frozenWorld(data)
  const { look, change } = await lookOf(t, data)
  change(false, phoneAt(1))
  const audience = read(1, look.digestOf(1), look)
  t.equal(audience.version, 1)
  await look.bringUp(audience)
  t.equal(countOf(audience), 0, 'nobody of it was suppressed before')
  change(false, phoneAt(2), phoneAt(3), '+9990000000000')
  await look.bringUp(audience)
  t.equal(countOf(audience), 2)
  change(true, phoneAt(2))
  await look.bringUp(audience)
  t.equal(countOf(audience), 1)
})

t.test('another store of the same version is not believed', async (t) => {
  const data = t.testdir({})
  const { read, phoneAt } = await frozenWorld(data)
  const [first, second] = [await lookOf(t, data), await lookOf(t, data)]
  first.change(false, phoneAt(1))
  first.change(false, phoneAt(2))
  second.change(false, phoneAt(3), phoneAt(4))
  for (const digest of [first.look.digestOf(1), null]) {
    const audience = read(1, digest, second.look)
    await second.look.bringUp(audience)
    t.equal(countOf(audience), 2, 'everybody was looked at')
    t.equal(audience.version, 1)
  }
  const ahead = read(2, first.look.digestOf(2), second.look)
  await second.look.bringUp(ahead)
  t.equal(countOf(ahead), 2, 'and in a store from before')
  const before = read(0, null, second.look)
  await second.look.bringUp(before)
  t.equal(countOf(before), 2, 'at version 0 nobody was suppressed anywhere')
})
