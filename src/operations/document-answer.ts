/**
 * Answers that are documents: JSON that is ready, and tables made of it where they are requested.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import { csvRecord, csvTable } from '../format/csv.js'
import { warningHeaders } from '../format/warning-headers.js'
import type { Remarks } from '../selection/remarks.js'
import { hashOf } from '../store/tables.js'

type Row = Readonly<Record<string, unknown>>

/** What a table shows of a document. */
interface DocumentTable {
  readonly columns: readonly string[]
  rows(document: Row): readonly Row[]
}

interface ReadyDocument {
  /** UTF-8. */
  readonly json: Uint8Array
  /** The columns of the document as a row among others. */
  readonly columns: readonly string[]
  readonly table: DocumentTable
  readonly headers: Readonly<Record<string, string>>
}

/** An answer whose every form is whole. */
interface DocumentAnswer extends Answer {
  csv(): string
}

export function documentAnswer({ json, columns, table, headers }: ReadyDocument): DocumentAnswer {
  const document = () => JSON.parse(Buffer.from(json).toString()) as Row
  return {
    headers,
    heldBytes: json.byteLength,
    json: () => json,
    csv: () => csvTable(table.columns, table.rows(document())),
    csvRecord: () => csvRecord(columns, document()),
  }
}

/** For conditional requests. */
export function taggedHeaders(json: Uint8Array): Readonly<Record<string, string>> {
  return { ETag: `W/"${hashOf(json)}"`, 'Cache-Control': 'no-cache' }
}

/** A table with a row for each item of a member. */
export function tableOf(name: string, columns: readonly string[]): DocumentTable {
  return { columns, rows: ({ [name]: items = [] }) => items as readonly Row[] }
}

/** A table of one row. */
export function rowOf(columns: readonly string[]): DocumentTable {
  return { columns, rows: (document) => [document] }
}

/** The names of the members of an object, in the order in which they are declared. */
export function columnsOf(schema: { readonly properties: object }): string[] {
  return Object.keys(schema.properties)
}

/** The same answer with a header for warnings, which no cache keeps for requests without the mistake. */
export function withWarnings(answer: Answer, { warnings }: Remarks): Answer {
  if (warnings === undefined) return answer
  const all = [...(answer.warnings ?? []), ...warnings]
  return {
    ...answer,
    headers: { ...warningHeaders(all), 'Cache-Control': 'no-store' },
    warnings: all,
  }
}
