/**
 * What a machine has at an entry of the journal, as it tells whoever compares machines. Plain data.
 *
 * @module
 */
import type { RegionDigest } from '../live/region-digests.js'
import type { ComparedStore } from '../store/entries.js'

export interface MachineDigests {
  /** In hexadecimal digits, of the last batch up to there: with it, all before it are the same. */
  readonly chainHash: string
  readonly store: ComparedStore
  /** The part of the store of which the rows are not those that were written; undefined where there is none. */
  readonly changedPart: string | undefined
  readonly regions: readonly RegionDigest[]
}

export type DigestsAnswer<Digests = MachineDigests> =
  /** Nothing is made yet, or never will be. `storedSequence`: how far a machine is that lacks changes. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly storedSequence?: number }
  /** In recipients. */
  | { readonly kind: 'working'; readonly doneCount: number; readonly totalCount: number }
  | { readonly kind: 'done'; readonly digests: Digests }
  | { readonly kind: 'failed'; readonly reason: string }

/** Without what the thread of the cluster knows itself. They never leave the machine as they are. */
export interface LocalDigests extends Omit<MachineDigests, 'chainHash'> {
  /** Of the entry. */
  readonly salt: string
}

export interface DigestsQuestion {
  /** Of a `comparison` in the journal. */
  readonly sequence: number
  /** Which is served as of that entry. */
  readonly snapshotId: string
}
