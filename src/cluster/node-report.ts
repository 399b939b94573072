/**
 * What a machine of a cluster tells all others of itself, as it travels.
 *
 * @module
 */
import type { Holding } from '../snapshot/snapshot.js'
import type { Report } from './agreement/messages.js'

export interface NodeReport {
  readonly agreement: Report
  /** Grows with each report; begins anywhere with each start. */
  readonly number: number
  readonly version: string
  /** Of the last entry by which it answers. */
  readonly answersBy: number
  /** Until it is level no more. */
  readonly levelMs: number
  /** Whether it is not ready because an operator says so. */
  readonly isDraining: boolean
  /** The snapshot that is served, and one that is ready to be. */
  readonly snapshotId: string | undefined
  readonly preparedId: string | undefined
  /** Of the snapshot that is served; left out by a version that does not say, and before there is one. */
  readonly held?: Holding | undefined
  /** Left out by a version that shares none, and before a machine knows of any. */
  readonly audiences?: AudienceFiles | undefined
  /** The numbers of reports of others: as the writer those before it was confirmed, else the last ones. */
  readonly echoes: Readonly<Record<string, number>>
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
