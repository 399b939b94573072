/**
 * How large a selection may be that is frozen.
 *
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifyAudiences } from '../../src/audiences/directory.js'
import { freeze } from '../../src/audiences/freeze.js'
import type { FreezeOrder } from '../../src/audiences/messages.js'
import { limits } from '../../src/limits.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'

function order(snapshotId: string, shards: FreezeOrder['shards']): FreezeOrder {
  return {
    kind: 'freeze',
    snapshotId,
    sequence: 0,
    sources: [{ id: 1, label: 'Some' }],
    shards,
    deltas: [],
    suppressionVersion: 0,
    lifetimeSeconds: 60,
    asker: { keyName: null, boundaryDigest: null, isForAll: true },
  }
}

t.test('as many runs as may be, and not one more', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const runCount = limits.audienceRunBytes / 8
  // Every second recipient: no run touches another.
  const runs = new Uint32Array(2 * runCount + 2)
  for (let at = 0; at < runs.length; at++) runs[at] = at
  const most = order(snapshotId, [{ shardIndex: 0, runs: runs.subarray(2) }])
  const { recipientCount, imageBytes } = await freeze(data, most, null)
  t.equal(recipientCount, runCount)
  t.equal(imageBytes, limits.audienceRunBytes)
  const refused = { code: 'AudienceTooLarge', message: /8388609 runs .* and there may be 8388608/ }
  const more = order(snapshotId, [{ shardIndex: 0, runs: runs }])
  await t.rejects(freeze(data, more, null), refused)
  t.equal(readdirSync(join(data, 'audiences')).length, 1)
})

t.test('as many who came since the snapshot as may be, with the longest phones', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const count = limits.audienceDeltaCount
  const row = Buffer.alloc(9 + limits.phoneBytes, '9')
  row[8] = limits.phoneBytes
  const rows = Buffer.alloc(count * row.length, row)
  const most = { ...order(snapshotId, []), deltas: [{ sourceId: 1, rows }] }
  const header = await freeze(data, most, null)
  t.equal(header.recipientCount, count)
  t.same(header.sources, [{ id: 1, label: 'Some', recipientCount: count }])
  t.equal(header.rowBytes, (12 + limits.phoneBytes) * count + 4)
  const [state] = await verifyAudiences(data, Date.now())
  t.equal(state.digest, header.digest)
})

t.test('runs that touch are one', async (t) => {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(10))
  const frozen = (...runs: number[]) =>
    freeze(data, order(snapshotId, [{ shardIndex: 0, runs: Uint32Array.from(runs) }]), null)
  const { digest, imageBytes } = await frozen(0, 2, 2, 5, 7, 8)
  t.equal(imageBytes, 16)
  t.equal((await frozen(0, 5, 7, 8)).digest, digest)
})

t.test('in as many shards as may be, and not one more', async (t) => {
  const data = t.testdir({})
  const shards = (count: number) =>
    Array.from({ length: count }, (_, shardIndex) => ({ shardIndex, runs: Uint32Array.of(0, 1) }))
  const nobody = { shardIndex: 5_000, runs: new Uint32Array(0) }
  const most = order('000009-00000000', [...shards(limits.audienceShardCount), nobody])
  // Its size is right, and its snapshot is not there.
  await t.rejects(freeze(data, most, null), { code: 'Unavailable' })
  const more = order('000009-00000000', shards(limits.audienceShardCount + 1))
  const refused = { code: 'AudienceTooLarge', message: /3073 shards, and there may be 3072/ }
  await t.rejects(freeze(data, more, null), refused)
})
