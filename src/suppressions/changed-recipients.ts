/**
 * What the thread of changes tells the thread that sets marks.
 *
 * @module
 */
import type { Marks } from '../shard/suppressed.js'

/** Answered by the number when all marks are set. */
export interface ChangedRecipients {
  readonly number: number
  /** One that is attached; of another one nothing is done. */
  readonly snapshotId: string
  /** Of shards of the snapshot, who is there no more. */
  readonly shards: readonly { readonly shardIndex: number; readonly gone: Uint32Array }[]
  readonly deltas: readonly DeltaNews[]
}

/** Who came to a source and who went of those, in the order in which they came. */
export interface DeltaNews {
  readonly sourceId: number
  /** The phones of those who came, UTF-8, end to end, and where each ends. */
  readonly phones: Uint8Array
  readonly phoneEnds: Uint32Array
  /** Places among all who ever came. */
  readonly gone: Uint32Array
  /** Always the same for a source and a snapshot, with room for all that may come. */
  readonly marks: Marks
}
