/**
 * What an operation answers, whatever the format: complete, so that nothing can be refused any more.
 *
 * @module
 */

/** The bytes of an answer, or of a part of one; those that are long come piece by piece. */
export type Body = string | Uint8Array | AsyncIterable<Uint8Array>

/** `flat`: one row a recipient. `sources`: one row a source, its recipients in a nested cell. */
export type CsvLayout = 'flat' | 'sources'

/** One answer among several in a table: each becomes one row. */
export interface CsvRecord {
  /** The names of the columns, ended by CRLF; the same for all answers of an operation. */
  readonly header: string
  /** Ended by CRLF. */
  readonly row: Body
}

export interface Answer {
  /** Beside those that follow from the format. */
  readonly headers: Readonly<Record<string, string>>
  /** Memory that it takes until it is written. */
  readonly heldBytes: number
  json(): Body
  /** A table with a header. */
  csv(layout: CsvLayout): Body
  csvRecord(): CsvRecord
}

/** Any body as pieces. */
export async function* piecesOf(body: Body): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield utf8.encode(body)
  else if (body instanceof Uint8Array) yield body
  else yield* body
}

const utf8 = new TextEncoder()
