/**
 * What is followed, and where changes go.
 *
 * @module
 */
import type { ColumnNames, RowOptions } from '../sources/batch.js'
import type { DatabaseAddress } from '../sources/postgres/url.js'

export interface FollowPlan {
  readonly dataDirectory: string
  readonly sourceId: number
  readonly address: DatabaseAddress
  /** As SQL has it. */
  readonly table: string
  readonly columns: ColumnNames
  readonly rowOptions: RowOptions
  readonly slot: string
  readonly publication: string
  /** Whether TRUNCATE empties the source. */
  readonly allowsTruncate: boolean
}
