/**
 * What a machine of a cluster tells all others of itself, as it travels.
 *
 * @module
 */
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
  /** The numbers of reports of others: as the writer those before it was confirmed, else the last ones. */
  readonly echoes: Readonly<Record<string, number>>
}
