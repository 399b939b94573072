/**
 * Increments: what changed in the recipients of a snapshot between two moments, as it travels between
 * threads. A *moment* is how many batches of the journal came since the snapshot. The shards of a moment
 * follow from all increments up to it (live-shards.ts).
 *
 * @module
 */
import type { Marks } from '../suppressed.js'
import type { NewlyTied } from '../ties/extend-ties.js'
import type { PackImage } from './packs.js'

export interface Increment extends ChangedShards {
  /** The seal of each batch behind the increment before it, in order (journal/batch.ts). */
  readonly seals: Uint32Array
}

export interface ChangedShards {
  /** Batches since the snapshot that it ends with: all that changed is of this moment, or an earlier one. */
  readonly moment: number
  /** Of the shards of the snapshot that changed. */
  readonly shards: readonly ShardIncrement[]
  /** Of the sources whose deltas changed. */
  readonly deltas: readonly DeltaIncrement[]
}

/** Recipients that are there no more from some moment on; the moments ascend. */
export interface Gone {
  readonly recipients: Uint32Array
  readonly moments: Uint32Array
}

export interface ShardIncrement {
  /** Index into the shards of the snapshot. */
  readonly shardIndex: number
  readonly gone: Gone
  /** Recipients none of whom was tied, ascending. */
  readonly byContact: NewlyTied
  readonly byPhone: NewlyTied
}

/** Recipients that came to a source, in the order in which they came. */
interface Come {
  /** Ascending, one for each. */
  readonly moments: Uint32Array
  /** Longitude and latitude in turn, in units of 1e-7 degree. */
  readonly coords: Int32Array
  /** Where each phone ends in `phones`. */
  readonly phoneEnds: Uint32Array
  /** The phones, UTF-8, end to end. */
  readonly phones: Uint8Array
  /** What each shares with others. */
  readonly contactIds: Uint32Array
  readonly phoneIds: Uint32Array
}

export interface DeltaIncrement {
  /** Place of the source among those of the snapshot. */
  readonly sourceIndex: number
  readonly come: Come
  /** By their places in the delta. */
  readonly gone: Gone
  /** How many of the packs stay, from the first one on. */
  readonly keptPackCount: number
  /** All others, which have whoever came. */
  readonly packs: readonly PackImage[]
  /** Of whoever is suppressed, with room for all that may come. */
  readonly marks: Marks
}
