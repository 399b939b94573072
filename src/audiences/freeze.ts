/**
 * Freezes a selection: its recipients as runs of shard files of its snapshot, and those that changes have added since with
 * phone and position.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { RunList, recipientCountOf } from '../shard/runs.js'
import { type ManifestShard, readManifest } from '../snapshot/format/manifest.js'
import { isCorrupt } from '../snapshot/open-file.js'
import { newAudienceId, writeAudience } from './directory.js'
import {
  type AudienceHeader,
  encodeAudience,
  type FrozenDelta,
  type FrozenShard,
  frozenDelta,
} from './file.js'
import type { FreezeOrder } from './messages.js'

/**
 * @param suppressionDigest  of the change that made the version of the order; null if the log does not have it
 * @throws ServiceError  AudienceTooLarge, TooManyAudiences or Unavailable
 */
export async function freeze(
  dataDirectory: string,
  order: FreezeOrder,
  suppressionDigest: string | null,
): Promise<AudienceHeader> {
  const { snapshotId, sequence, asker, suppressionVersion, lifetimeSeconds } = order
  refuseLarge(order)
  const shards = frozenShards(order, await shardsOnDisk(dataDirectory, snapshotId))
  const deltas = order.deltas.map(({ sourceId, rows }) => frozenDelta(sourceId, rows))
  const createdMs = Date.now()
  const facts = {
    id: newAudienceId(),
    snapshotId,
    sequence,
    createdMs,
    // In whole seconds, as the name of the file has it.
    expiresMs: 1_000 * (Math.ceil(createdMs / 1_000) + lifetimeSeconds),
    keyName: asker.keyName,
    boundaryDigest: asker.boundaryDigest,
    suppressionVersion,
    suppressionDigest,
    sources: order.sources.map(({ id, label }) => ({
      id,
      label,
      recipientCount: countOf(shards, deltas, id),
    })),
  }
  const { header, parts } = encodeAudience(facts, shards, deltas)
  await writeAudience(dataDirectory, header, parts)
  return header
}

function refuseLarge({ shards }: FreezeOrder): void {
  const runCount = shards.reduce((sum, { runs }) => sum + runs.length / 2, 0)
  const shardCount = shards.filter(({ runs }) => runs.length > 0).length
  const isOfManyRuns = 8 * runCount > limits.audienceRunBytes
  if (!isOfManyRuns && shardCount <= limits.audienceShardCount) return
  const found = isOfManyRuns
    ? `the audience has ${runCount} runs of recipients that lie together`
    : `the audience is in ${shardCount} shards`
  const most = `and there may be ${isOfManyRuns ? limits.audienceRunBytes / 8 : limits.audienceShardCount}`
  throw new ServiceError('AudienceTooLarge', `${found}, ${most}: ask for a part of it at a time`)
}

/** By the index of the shard. */
async function shardsOnDisk(
  dataDirectory: string,
  snapshotId: string,
): Promise<{ readonly sourceId: number; readonly entry: ManifestShard }[]> {
  try {
    const { sources } = await readManifest(dataDirectory, snapshotId)
    return sources.flatMap(({ id, shards }) => shards.map((entry) => ({ sourceId: id, entry })))
  } catch (error) {
    if (!isCorrupt(error)) throw error
    const problem = `the snapshot ${snapshotId} that is served is not on the disk as it was written`
    throw new ServiceError('Unavailable', `${problem}; import again, then try again`)
  }
}

function frozenShards(
  { shards }: FreezeOrder,
  onDisk: Awaited<ReturnType<typeof shardsOnDisk>>,
): FrozenShard[] {
  return shards
    .filter(({ runs }) => runs.length > 0)
    .map(({ shardIndex, runs }) => {
      const { sourceId, entry } = onDisk[shardIndex]
      const { file, byteLength, headerCrc32, sha256 } = entry
      return { sourceId, file, byteLength, headerCrc32, sha256, runs: joined(runs) }
    })
}

/** Joins runs that touch, so that the same recipients are the same runs. */
function joined(runs: Uint32Array): Uint32Array {
  const list = new RunList()
  for (let i = 0; i < runs.length; i += 2) list.append(runs[i], runs[i + 1])
  return list.toPairs()
}

function countOf(
  shards: readonly FrozenShard[],
  deltas: readonly FrozenDelta[],
  id: number,
): number {
  let count = 0
  for (const { sourceId, runs } of shards) if (sourceId === id) count += recipientCountOf(runs)
  for (const { sourceId, recipientCount } of deltas) if (sourceId === id) count += recipientCount
  return count
}
