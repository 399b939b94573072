/**
 * What a machine of a cluster tells all others of itself, as it travels.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { LogPlace } from '../journal/head.js'
import type { Holding } from '../snapshot/snapshot.js'

export interface NodeReport {
  readonly name: string
  /** Of its data directory. */
  readonly incarnation: string
  readonly version: string
  /** Of its process. */
  readonly session: string
  /** The log that it follows, and how far. */
  readonly log: LogPlace
  /** The last batch in its journal. */
  readonly last: Link
  /** The last batch on its disk, which the log may not have said again since the power failed. */
  readonly kept: Link
  /** Up to here it answers by all entries of the store. */
  readonly storedBy: number
  /** Up to here it answers by all, also by changes of recipients. */
  readonly answersBy: number
  /** Until it is level no more. */
  readonly levelMs: number
  /** Why it does not go on with the cluster. */
  readonly fault?: string | undefined
  /** The same in a word, where the log is the reason. */
  readonly faultKind?: string | undefined
  /** Whether it is not ready because an operator says so. */
  readonly isDraining: boolean
  /** The snapshot that is served, and one that is ready to be. */
  readonly snapshotId: string | undefined
  readonly preparedId: string | undefined
  /** Of the snapshot that is served; left out by a version that does not say, and before there is one. */
  readonly held?: Holding | undefined
  /** Left out by a version that shares none, and before a machine knows of any. */
  readonly audiences?: AudienceFiles | undefined
}

/** Of which audiences a machine has the files. */
export interface AudienceFiles {
  /** Of those that entries up to here have announced, */
  readonly upTo: number
  /** but for those that these entries have. */
  readonly lacking: readonly number[]
}

/** Whether a machine has the files of the audience that an entry has announced. */
export function hasFilesOf(files: AudienceFiles | undefined, entrySequence: number): boolean {
  return (
    files !== undefined && files.upTo >= entrySequence && !files.lacking.includes(entrySequence)
  )
}
