/**
 * How DuckDB tells the records of a text file apart: a record of CSV into fields, or a line that is
 * one field.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { quote, sqlPath } from '../files/database.js'
import type { Packing } from '../files/input.js'
import type { RejectReason } from '../rows/rejects.js'
import { reasonCode } from '../rows/row-query.js'
import type { LineEnd } from './text-head.js'

export interface TextLayout {
  readonly path: string
  readonly packing: Packing
  readonly delimiter: string
  /** The character around fields, or nothing. */
  readonly quotation: string
  readonly columnCount: number
  /** Lines before the first record. */
  readonly skippedCount: number
  readonly lineEnd: LineEnd
}

const LINE_ENDS: Readonly<Record<LineEnd, string>> = { '\n': '\\n', '\r\n': '\\r\\n', '\r': '\\r' }

/**
 * The fields of every record as c0, c1 and so on. What cannot be told apart into fields goes to the
 * table of `rejectQuery`.
 *
 * @param isParallel  only if that is known to leave out nothing
 */
export function readText(layout: TextLayout, isParallel: boolean): string {
  const columns = Array.from({ length: layout.columnCount }, (_, index) => `c${index}: 'VARCHAR'`)
  const options = [
    // Nothing is left to the sniffer: it gives up on dirty files.
    'auto_detect = false',
    `columns = {${columns.join(', ')}}`,
    `delim = ${quote(layout.delimiter)}`,
    `quote = ${quote(layout.quotation)}`,
    `escape = ${quote(layout.quotation)}`,
    `new_line = '${LINE_ENDS[layout.lineEnd]}'`,
    // DuckDB's own header option takes a blank line for the header.
    'header = false',
    `skip = ${layout.skippedCount}`,
    `compression = '${layout.packing}'`,
    'hive_partitioning = false',
    // It leaves out what follows some megabytes without a single good record.
    `parallel = ${isParallel}`,
    `max_line_size = ${limits.recordBytes}`,
    'store_rejects = true',
    'rejects_limit = 0',
  ]
  return `read_csv(${sqlPath(layout.path)}, ${options.join(', ')})`
}

/** The columns of `rejectQuery`, in this order. */
export const rejectColumns = { record: 0, reason: 1 } as const

/** Every record that DuckDB rejected, by its number, and its first reason. */
export function rejectQuery(fieldCountReason: RejectReason): string {
  return `
  SELECT
    line::UINTEGER,
    min(CASE error_type
      WHEN 'LINE SIZE OVER MAXIMUM' THEN ${reasonCode('RecordTooLong')}
      WHEN 'MISSING COLUMNS' THEN ${reasonCode(fieldCountReason)}
      WHEN 'TOO MANY COLUMNS' THEN ${reasonCode(fieldCountReason)}
      WHEN 'INVALID ENCODING' THEN ${reasonCode('EncodingInvalid')}
      ELSE ${reasonCode('QuoteMalformed')} END)::UTINYINT
  FROM reject_errors GROUP BY line ORDER BY line`
}

/** To be run before the next file: the numbers of records begin anew. */
export const forgetRejects = [
  'DROP TABLE IF EXISTS reject_errors',
  'DROP TABLE IF EXISTS reject_scans',
]
