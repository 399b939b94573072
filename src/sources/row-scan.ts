/**
 * Runs the query over one CSV file and hands the rows that are accepted to the collector.
 *
 * @module
 */
import {
  DuckDBBlobVector,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBResult,
} from '@duckdb/node-api'
import type { RecipientCollector } from './collector.js'
import {
  ACCEPTED,
  forgetRejects,
  rejectColumns,
  rejectQuery,
  rowColumns,
  rowQuery,
} from './csv-query.js'
import type { Header } from './header.js'
import type { Survey } from './survey.js'
import { grow } from './text-column.js'

export interface RowScan {
  /** Rows that DuckDB told apart, the accepted ones among them. */
  readonly rowCount: number
  /** Those of them that are rejected or go over several lines, ascending. */
  readonly special: SpecialRows
  /** Records that DuckDB could not tell apart into fields, by number. */
  readonly broken: BrokenRecords
}

export interface SpecialRows {
  readonly rows: Uint32Array
  /** A code of csv-query.ts. */
  readonly reasons: Uint8Array
  /** Line ends inside fields that are ignored. */
  readonly breaks: Uint32Array
}

export interface BrokenRecords {
  /** The physical line, had no field before it a line end inside. */
  readonly records: Uint32Array
  readonly reasons: Uint8Array
  readonly areOneLine: Uint8Array
}

/** @param onRows  called now and then with the rows read so far */
export async function scanRows(
  connection: DuckDBConnection,
  path: string,
  survey: Survey,
  header: Header,
  collector: RecipientCollector,
  onRows: (rowCount: number) => void,
): Promise<RowScan> {
  for (const statement of forgetRejects) await connection.run(statement)
  const special = new SpecialRowList()
  let rowCount = 0
  const result = await connection.stream(rowQuery(path, survey, header))
  for await (const chunk of chunksOf(result)) {
    takeRows(chunk, rowCount, collector, special)
    rowCount += chunk.rowCount
    onRows(rowCount)
  }
  return { rowCount, special: special.finish(), broken: await brokenRecords(connection) }
}

/** The next chunk is fetched while this one is worked on. */
async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let chunk = await result.fetchChunk()
  while (chunk !== null && chunk.rowCount > 0) {
    const next = result.fetchChunk()
    // Awaited below; should the reader fail before, its error is the one to be seen.
    next.catch(() => undefined)
    yield chunk
    chunk = await next
  }
}

function takeRows(
  chunk: DuckDBDataChunk,
  firstRow: number,
  collector: RecipientCollector,
  special: SpecialRowList,
): void {
  const reasons = chunk.getColumnVector(rowColumns.reason)
  const lats = chunk.getColumnVector(rowColumns.lat)
  const lngs = chunk.getColumnVector(rowColumns.lng)
  const breaks = chunk.getColumnVector(rowColumns.breaks)
  const numbers = blobs(chunk, rowColumns.number)
  const contacts = blobs(chunk, rowColumns.contact)
  const rowCount = chunk.rowCount
  for (let row = 0; row < rowCount; row++) {
    const reason = reasons.getItem(row) as number
    const breakCount = breaks.getItem(row) as number
    if (reason !== ACCEPTED || breakCount > 0) special.add(firstRow + row, reason, breakCount)
    if (reason !== ACCEPTED) continue
    const number = bytesAt(numbers, row)
    const contact = bytesAt(contacts, row)
    const lng = lngs.getItem(row) as number
    collector.add(lng, lats.getItem(row) as number, number, 0, number.length)
    if (contact.length === 0) collector.setNoContact()
    else collector.setContact(contact, 0, contact.length)
  }
}

/** Texts cross as BLOB: as VARCHAR each would be decoded into a string, and encoded again. */
function blobs(chunk: DuckDBDataChunk, column: number): DuckDBBlobVector {
  const vector = chunk.getColumnVector(column)
  if (vector instanceof DuckDBBlobVector) return vector
  throw new Error('the query encodes texts as BLOB')
}

function bytesAt(vector: DuckDBBlobVector, row: number): Uint8Array {
  const bytes = vector.getItemBytes(row)
  if (bytes === null) throw new Error('the query makes no text null')
  return bytes
}

class SpecialRowList {
  #rows = new Uint32Array(64)
  #reasons = new Uint8Array(64)
  #breaks = new Uint32Array(64)
  #count = 0

  add(row: number, reason: number, breakCount: number): void {
    if (this.#count === this.#rows.length) {
      this.#rows = grow(this.#rows, this.#count + 1)
      this.#reasons = grow(this.#reasons, this.#count + 1)
      this.#breaks = grow(this.#breaks, this.#count + 1)
    }
    this.#rows[this.#count] = row
    this.#reasons[this.#count] = reason
    this.#breaks[this.#count++] = breakCount
  }

  finish(): SpecialRows {
    return {
      rows: this.#rows.subarray(0, this.#count),
      reasons: this.#reasons.subarray(0, this.#count),
      breaks: this.#breaks.subarray(0, this.#count),
    }
  }
}

async function brokenRecords(connection: DuckDBConnection): Promise<BrokenRecords> {
  const chunks = await (await connection.run(rejectQuery)).fetchAllChunks()
  const items = (column: number) =>
    chunks.flatMap((chunk) => chunk.getColumnValues(column)).map(Number)
  return {
    records: Uint32Array.from(items(rejectColumns.record)),
    reasons: Uint8Array.from(items(rejectColumns.reason)),
    areOneLine: Uint8Array.from(items(rejectColumns.isOneLine)),
  }
}
