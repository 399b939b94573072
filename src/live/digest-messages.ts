/**
 * The messages between the main thread and a thread that makes digests. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { RegionDigest } from './region-digests.js'

/** What the thread is born with. */
export interface DigestThreadData {
  readonly dataDirectory: string
  /** Attached to the thread of changes. */
  readonly snapshot: Snapshot
  /** The thread waits until it has heard of this moment. */
  readonly moment: number
  /** To the thread of changes. */
  readonly changes: MessagePort
}

/** From the thread, which ends after the last one. */
export type DigestNews =
  | { readonly kind: 'progress'; readonly doneCount: number }
  | ({ readonly kind: 'done' } & SnapshotDigests)

export interface SnapshotDigests {
  readonly regions: readonly RegionDigest[]
  /** The part of the store of which the rows are not those that were written; undefined where there is none. */
  readonly changedPart: string | undefined
}
