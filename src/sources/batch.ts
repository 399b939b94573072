/**
 * Recipients on their way from a source into columns: some thousand at a time, each of them checked.
 *
 * @module
 */
import type { RejectedMap } from './rows/rejected-cells.js'
import type { Misplacement, Rejects } from './rows/rejects.js'

/** Recipients in the order of their source. Texts lie end to end: text `i` is at [offsets[i], offsets[i + 1]). */
export interface RecipientBatch {
  readonly recipientCount: number
  /** Units of 1e-7 degree. */
  readonly lngs: Int32Array
  readonly lats: Int32Array
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
  readonly contactOffsets: Uint32Array
  /** An empty text where a recipient has no contact. */
  readonly contacts: Uint8Array
  /** Left out where the source has no keys; then all of its batches have none. */
  readonly keyOffsets?: Uint32Array | undefined
  readonly keys?: Uint8Array | undefined
}

export interface RecipientSink {
  /** How many it was given. */
  readonly recipientCount: number
  /** Copies what it needs before it returns; the batch may be used again then. */
  add(batch: RecipientBatch): void
  /** Forgets all but the first of what it was given. */
  truncate(recipientCount: number): void
}

/** The outcome of reading the rows of a source. */
export interface ReadReport {
  /** Always the accepted and the rejected together. */
  readonly rowCount: number
  readonly acceptedCount: number
  readonly rejectedCount: number
  readonly rejects: readonly Rejects[]
  /** Where the rejected rows are whose position could be used; undefined if there are none. */
  readonly rejectedMap: RejectedMap | undefined
  /** What is wrong with all rejected rows, as far as it is one thing that files tell. */
  readonly misplacement?: Misplacement | undefined
  /** Lines that accepted rows take beyond one each, for line ends in fields. */
  readonly furtherLineCount: number
  /** Accepted rows whose number was changed into E.164. */
  readonly normalizedCount: number
}

/** What the operator allows beyond the rules for all rows. */
export interface RowOptions {
  /** Whether the position 0,0 is a place like others. */
  readonly allowsNullIsland?: boolean
  /** Whether coordinates in texts may have a comma instead of a point. */
  readonly hasDecimalComma?: boolean
  /** The country of numbers without a calling code, such as US; numbers become E.164 if it is given. */
  readonly e164Region?: string | undefined
}

/** Which column is what, as the operator says; where nothing is said, it is guessed from the names. */
export interface ColumnNames {
  readonly number?: string
  readonly lat?: string
  readonly lng?: string
  readonly contact?: string
  /** Tells rows apart: of those with the same key the first is taken. */
  readonly key?: string
}

/** Work that is done and all that there is, in `unit`; a total of 0 is not known. */
export type OnReadProgress = (done: number, total: number, unit: 'bytes' | 'rows') => void
