/**
 * Numbers that several recipients of a snapshot have, within a source or over several.
 *
 * @module
 */

/** The recipients of one shard whose number another recipient of the snapshot has, too. */
export interface ShardRepeats {
  /** Indexes of recipients, ascending. */
  readonly recipients: Uint32Array
  /** The number of each of them: below `Repeats.numberCount`, the same for the same number. */
  readonly numberIds: Uint32Array
}

export interface Repeats {
  /** Different numbers that repeat. */
  readonly numberCount: number
  /** One entry a shard, in the order of the snapshot's shards. */
  readonly shards: readonly ShardRepeats[]
}

export const NO_REPEATS: ShardRepeats = {
  recipients: new Uint32Array(0),
  numberIds: new Uint32Array(0),
}
