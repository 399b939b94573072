/**
 * The facts that a front thread knows about the shards of its workers: those of a snapshot, and behind those
 * of each source its delta.
 *
 * @module
 */
import { withDeltas } from '../shard/delta/live-shards.js'
import type { Box } from '../shard/layout.js'

export interface CatalogueSource {
  readonly id: number
  readonly label: string
  /** Whether its recipients have keys; left out where nobody knows what they are known by. */
  readonly hasKeys?: boolean
  /** In the snapshot alone; left out where nobody asks. */
  readonly recipientCount?: number
}

export interface CatalogueShard {
  readonly sourceId: number
  /** Of a delta to which nobody came, one that meets nothing. */
  readonly box: Box
  /** In the snapshot; left out of a delta. */
  readonly recipientCount?: number | undefined
  /** What cursors name it by: the index of the shard in the snapshot, or that of the source and `DELTA_PLACE`. */
  readonly placeId: number
}

export interface Catalogue {
  readonly snapshotId: string
  /** When it was made: ISO 8601, UTC. */
  readonly createdAt: string
  /** The last batch of the journal of changes that is in it; 0 where there was none. */
  readonly sequence: number
  /** By ascending id. */
  readonly sources: readonly CatalogueSource[]
  /** By the index that tasks have. */
  readonly shards: readonly CatalogueShard[]
}

/** What the facts follow from. */
interface Facts extends Omit<Catalogue, 'shards' | 'sequence'> {
  /** Of the snapshot alone; 0 unless given. */
  readonly baseSequence?: number | undefined
  /** Those of the snapshot. */
  readonly shards: readonly Pick<CatalogueShard, 'sourceId' | 'box' | 'recipientCount'>[]
}

/** @param deltaBoxes  of the delta of each source; undefined where nobody came */
export function catalogueOf(
  { snapshotId, createdAt, baseSequence: sequence = 0, sources, shards }: Facts,
  deltaBoxes: readonly (Box | undefined)[] = [],
): Catalogue {
  const ofShards = shards.map(({ sourceId, box, recipientCount }, placeId) => {
    return { sourceId, box, recipientCount, placeId }
  })
  const ofDeltas = sources.map(({ id: sourceId }, at) => ({
    sourceId,
    box: deltaBoxes[at] ?? NOWHERE,
    recipientCount: undefined,
    placeId: DELTA_PLACE + at,
  }))
  return { snapshotId, createdAt, sequence, sources, shards: withDeltas(ofShards, ofDeltas) }
}

/** As if nobody were in some shards. */
export function withoutShards(
  { shards, ...catalogue }: Catalogue,
  isLeftOut: (index: number) => boolean,
): Catalogue {
  return {
    ...catalogue,
    shards: shards.map((shard, index) => (isLeftOut(index) ? { ...shard, box: NOWHERE } : shard)),
  }
}

/** Whether there was ever anybody in a shard. */
export function isFilled({ box }: Pick<CatalogueShard, 'box'>): boolean {
  return !(box.minLng > box.maxLng)
}

/** Whether a shard has those who came to a source since the snapshot. */
export function isDelta({ placeId }: Pick<CatalogueShard, 'placeId'>): boolean {
  return placeId >= DELTA_PLACE
}

/** Above the index of any shard of a snapshot. */
const DELTA_PLACE = 2 ** 31

const NOWHERE: Box = {
  minLng: Number.POSITIVE_INFINITY,
  minLat: Number.POSITIVE_INFINITY,
  maxLng: Number.NEGATIVE_INFINITY,
  maxLat: Number.NEGATIVE_INFINITY,
}
