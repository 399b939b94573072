/**
 * What the main thread and a front thread say to each other when a new snapshot takes the place of
 * the one that is served.
 *
 * @module
 */
import type { Snapshot } from '../snapshot/snapshot.js'
import type { SnapshotNews } from '../snapshot/watch.js'

/** To a front thread. */
export type SwapOrder =
  /** Start workers that hold it. Answered by `prepared` or `refused`. */
  | { readonly kind: 'prepare'; readonly snapshot: Snapshot }
  /** Answer from what was prepared. Answered by `switched`, and by `released` for the old one. */
  | { readonly kind: 'switch' }
  /** Forget what was prepared, if it was. Answered by `released`. */
  | { readonly kind: 'discard'; readonly snapshotId: string }
  /** Wait no longer for those who still read an old one. */
  | { readonly kind: 'breakOff' }
  /** What to say of new snapshots. */
  | { readonly kind: 'news'; readonly news: SnapshotNews }

/** From a front thread. */
export type SwapReport =
  | { readonly kind: 'prepared'; readonly snapshotId: string }
  | { readonly kind: 'refused'; readonly snapshotId: string; readonly reason: string }
  | { readonly kind: 'switched'; readonly snapshotId: string }
  /** Nothing of this thread reads it any more. */
  | { readonly kind: 'released'; readonly snapshotId: string }
