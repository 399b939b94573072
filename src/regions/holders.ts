/**
 * Which machines hold the shards of a snapshot, as a front thread knows it.
 *
 * @module
 */

export interface Holders {
  /** Whether this machine holds a shard, as tasks name it; it holds every delta. */
  isHere(shardIndex: number): boolean
  /** The other machines that hold it. */
  of(shardIndex: number): readonly string[]
}
