/**
 * The records of a text file that DuckDB could not tell apart into fields.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import type { RejectReason } from '../rows/rejects.js'
import { rejectColumns, rejectQuery } from './text-query.js'

export interface BrokenRecords {
  /** The number of the line on which a record begins, were no field before it to have a line end. */
  readonly records: Uint32Array
  readonly reasons: Uint8Array
}

/** Those of the last scan. @param fieldCountReason  for what has more or fewer fields than it should */
export async function brokenRecords(
  connection: DuckDBConnection,
  fieldCountReason: RejectReason,
): Promise<BrokenRecords> {
  const chunks = await (await connection.run(rejectQuery(fieldCountReason))).fetchAllChunks()
  const items = (column: number) =>
    chunks.flatMap((chunk) => chunk.getColumnValues(column)).map(Number)
  return {
    records: Uint32Array.from(items(rejectColumns.record)),
    reasons: Uint8Array.from(items(rejectColumns.reason)),
  }
}
