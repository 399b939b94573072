/**
 * What all questions are asked of: synthetic recipients of the United States, in the shards that
 * an import would make of them.
 *
 * @module
 */
import { limits } from '../../../src/limits.js'
import { buildShard } from '../../../src/shard/build/build.js'
import { partition } from '../../../src/shard/build/partition.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { syntheticColumns } from '../../../src/sources/synthetic/synthetic-columns.js'
import { inArenas } from '../../../test/support/data/arenas.js'
import { withContactTies } from '../../../test/support/data/ties.js'

export interface World {
  readonly seed: number
  readonly columns: RecipientColumns
  readonly shards: readonly Shard[]
}

export function buildWorld(recipientCount: number, seed: number): World {
  const columns = syntheticColumns({ recipientCount, seed, countries: ['US'] })
  const regions = partition(columns, limits.shardRecipientCount)
  return { seed, columns, shards: buildShards(columns, regions) }
}

/**
 * In arenas, as a service has them: or it would not be its kernel that is measured.
 *
 * @param regions  the rows of each shard
 */
export function buildShards(columns: RecipientColumns, regions: readonly Uint32Array[]): Shard[] {
  const images = regions.map((rows, regionIndex) => buildShard(columns, rows, 1, regionIndex))
  return withContactTies(inArenas(images, 1), false).map(attachShard)
}
