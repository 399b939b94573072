/**
 * CSV as RFC 4180 writes it, with an addition that clients of this interface expect: a nested value
 * is JSV in one cell.
 *
 * @module
 */
import type { CsvRecord } from './answer.js'
import { writeJsv } from './jsv.js'

export const CSV_LINE_END = '\r\n'

type CsvRow = Readonly<Record<string, unknown>>

/** A header and rows. A row may lack columns; its other members are left out. */
export function csvTable(columns: readonly string[], rows: readonly CsvRow[]): string {
  return csvHeader(columns) + rows.map((row) => csvRow(columns, row)).join('')
}

/** A header and one row, which may stand in a table with others of the same columns. */
export function csvRecord(columns: readonly string[], row: CsvRow): CsvRecord {
  return { header: csvHeader(columns), row: csvRow(columns, row) }
}

/**
 * A field of free text, quoted where needed. An apostrophe goes before a text that a spreadsheet would
 * run as a formula (OWASP, CSV Injection).
 */
export function csvText(text: string): string {
  return csvField(/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)
}

/** A field as it is; quoted when it holds a quote, a comma or a line end, or begins like a list. */
export function csvField(text: string): string {
  return /[",\r\n]|^[[{]/.test(text) ? `"${csvEscaped(text)}"` : text
}

/** A part of a field that is quoted. */
export function csvEscaped(text: string): string {
  return text.replaceAll('"', '""')
}

function csvHeader(columns: readonly string[]): string {
  return columns.join(',') + CSV_LINE_END
}

function csvRow(columns: readonly string[], row: CsvRow): string {
  return columns.map((column) => csvCell(row[column])).join(',') + CSV_LINE_END
}

/**
 * A nested value begins with a bracket or a brace, so that no spreadsheet runs its content. NaN and
 * infinity are empty, where JSON has null.
 */
function csvCell(value: unknown): string {
  if (value == null || (typeof value === 'number' && !Number.isFinite(value))) return ''
  return typeof value === 'string' ? csvText(value) : csvField(writeJsv(value))
}
