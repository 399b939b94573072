/**
 * Runs the query over one input and hands the rows that are accepted to the sink.
 *
 * @module
 */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api'
import type { RecipientSink, RowOptions } from '../batch.js'
import { grow } from '../columns/growing-column.js'
import { ChunkReader } from './chunk-reader.js'
import type { E164Numbers } from './e164.js'
import type { KeySet } from './key-set.js'
import type { RejectedTexts } from './rejected-texts.js'
import type { RejectTally } from './rejects.js'
import { type RowSource, rowQuery } from './row-query.js'

/** The receivers of the rows of a source, and how they are taken. */
export interface RowTarget {
  readonly sink: RecipientSink
  readonly tally: RejectTally
  /** Of the rows that were accepted before, for a source that has keys. */
  readonly keys: KeySet
  readonly options: RowOptions
  /** Gets the texts of the rejected rows of a scan; absent if nobody asks for them. */
  readonly texts?: RejectedTexts | undefined
  /** Makes E.164 of the numbers; they stay as they are if it is absent. */
  readonly numbers?: E164Numbers | undefined
}

export interface RowScan {
  /** Rows that DuckDB told apart, the accepted ones among them. */
  readonly rowCount: number
  readonly acceptedCount: number
  /** Those whose number was changed. */
  readonly normalizedCount: number
  /** Those of them that are rejected or go over several lines, ascending. */
  readonly special: SpecialRows
}

interface SpecialRows {
  readonly rows: Uint32Array
  /** A code of row-query.ts. */
  readonly reasons: Uint8Array
  /** Line ends inside fields. */
  readonly breaks: Uint32Array
  /** Of rejected rows: where they are, of `cellOf`. */
  readonly cells: Uint32Array
}

/**
 * @param onRows  called now and then with the rows read so far
 */
export async function scanRows(
  connection: DuckDBConnection,
  source: RowSource,
  { sink, keys, options, texts, numbers }: RowTarget,
  onRows: (rowCount: number) => void,
): Promise<RowScan> {
  const { sql, layout } = rowQuery(source, options, texts !== undefined)
  const special = new SpecialRowList()
  const reader = new ChunkReader(layout, keys, special, texts, numbers)
  texts?.restart()
  let rowCount = 0
  let acceptedCount = 0
  const result = await connection.stream(sql)
  for await (const chunk of chunksOf(result)) {
    const batch = reader.read(chunk, rowCount)
    if (batch.recipientCount > 0) sink.add(batch)
    acceptedCount += batch.recipientCount
    rowCount += chunk.rowCount
    onRows(rowCount)
  }
  const { changedCount: normalizedCount } = reader
  return { rowCount, acceptedCount, normalizedCount, special: special.finish() }
}

/** The next chunk is fetched while this one is worked on. */
async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let next = result.fetchChunk()
  try {
    for (;;) {
      const chunk = await next
      if (chunk === null || chunk.rowCount === 0) return
      next = result.fetchChunk()
      // Awaited above; should the reader fail before, its error is the one to be seen.
      next.catch(() => undefined)
      yield chunk
    }
  } finally {
    // The connection may not be used for anything else before.
    await next.catch(() => undefined)
  }
}

class SpecialRowList {
  #rows = new Uint32Array(64)
  #reasons = new Uint8Array(64)
  #breaks = new Uint32Array(64)
  #cells = new Uint32Array(64)
  #count = 0

  add(row: number, reason: number, breakCount: number, cell: number): void {
    if (this.#count === this.#rows.length) {
      this.#rows = grow(this.#rows, this.#count + 1)
      this.#reasons = grow(this.#reasons, this.#count + 1)
      this.#breaks = grow(this.#breaks, this.#count + 1)
      this.#cells = grow(this.#cells, this.#count + 1)
    }
    this.#rows[this.#count] = row
    this.#reasons[this.#count] = reason
    this.#breaks[this.#count] = breakCount
    this.#cells[this.#count++] = cell
  }

  finish(): SpecialRows {
    return {
      rows: this.#rows.subarray(0, this.#count),
      reasons: this.#reasons.subarray(0, this.#count),
      breaks: this.#breaks.subarray(0, this.#count),
      cells: this.#cells.subarray(0, this.#count),
    }
  }
}
