/**
 * The facts that a front thread knows about the snapshot of its workers.
 *
 * @module
 */
import type { Box } from '../shard/layout.js'

export interface CatalogueSource {
  readonly id: number
  readonly label: string
  /** Whether its recipients have keys; left out where nobody knows what they are known by. */
  readonly hasKeys?: boolean
}

export interface CatalogueShard {
  readonly sourceId: number
  readonly box: Box
}

export interface Catalogue {
  readonly snapshotId: string
  /** When it was made: ISO 8601, UTC. */
  readonly createdAt: string
  /** By ascending id. */
  readonly sources: readonly CatalogueSource[]
  /** By shard index. */
  readonly shards: readonly CatalogueShard[]
}
