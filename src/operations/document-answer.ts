/**
 * Answers that are documents: JSON that is ready, and tables made of it where they are asked for.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import { csvRecord, csvTable } from '../format/csv.js'
import { hashOf } from '../store/hash.js'

export type Row = Readonly<Record<string, unknown>>

/** What a table shows of a document. */
interface DocumentTable {
  readonly columns: readonly string[]
  rows(document: Row): readonly Row[]
}

interface ReadyDocument {
  /** UTF-8. */
  readonly json: Uint8Array
  /** Of one row, where the document is one among several. */
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

/** Lets a client keep a document and ask whether it is still the same. */
export function taggedHeaders(json: Uint8Array): Readonly<Record<string, string>> {
  return { ETag: `W/"${hashOf(json)}"`, 'Cache-Control': 'no-cache' }
}

/** The names of the members of an object, in the order in which they are declared. */
export function columnsOf(schema: { readonly properties: object }): string[] {
  return Object.keys(schema.properties)
}
