/**
 * A snapshot: all recipients of all sources at one moment, immutable once published.
 *
 * On disk it is a directory of shard files and a manifest; in memory it is what is below.
 *
 * @module
 */
import type { Arena } from '../shard/arena.js'
import { hasColumns, type ShardImage } from '../shard/layout.js'

export interface SnapshotSource {
  readonly id: number
  readonly label: string
  readonly recipientCount: number
  readonly contactCount: number
  /** Whether its recipients have keys; left out where nobody knows what they are known by. */
  readonly hasKeys?: boolean
  /** The last batch of the journal whose changes of the source are in it; left out where that is none. */
  readonly appliedSequence?: number
}

/** A snapshot as it crosses threads: plain data and shared buffers. */
export interface Snapshot {
  /** The value of the header X-Snapshot: generation and digest, such as `000007-3f9a1c2b`. */
  readonly id: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** By ascending id. */
  readonly sources: readonly SnapshotSource[]
  /** By source, then region. */
  readonly shards: readonly ShardImage[]
  /** By place, the names of the machines that hold each shard; undefined where every machine holds all. */
  readonly holders?: readonly (readonly string[])[] | undefined
  /** All memory that it lies in. */
  readonly arenas: readonly Arena[]
}

/** How much of a snapshot a machine holds in memory. */
export interface Holding {
  readonly shardCount: number
  readonly recipientCount: number
  /** Of these shards and recipients. */
  readonly ofShardCount: number
  readonly ofRecipientCount: number
}

export function holdingOf({ shards }: Pick<Snapshot, 'shards'>): Holding {
  const held = shards.filter(hasColumns)
  return {
    shardCount: held.length,
    recipientCount: recipientCountOf(held),
    ofShardCount: shards.length,
    ofRecipientCount: recipientCountOf(shards),
  }
}

/** How many recipients some sources have together. */
export function recipientCountOf(
  sources: readonly Pick<SnapshotSource, 'recipientCount'>[],
): number {
  return sources.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
}
