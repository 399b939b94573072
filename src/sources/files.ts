/**
 * Recipients from CSV files, plain or gzip.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { OperatorError } from '../errors.js'
import type { RecipientColumns } from '../shard/columns.js'
import { RecipientCollector } from './collector.js'
import { withCsvDatabase } from './csv-database.js'
import { type Header, readHeader } from './header.js'
import { inputBytes } from './input.js'
import { type Rejects, RejectTally } from './rejects.js'
import { lineEndHint, placeRows } from './row-places.js'
import { type RowScan, scanRows } from './row-scan.js'
import { type Survey, surveyFile } from './survey.js'

export interface RecipientRead {
  readonly columns: RecipientColumns
  /** Always the accepted (`columns.recipientCount`) and the rejected together. */
  readonly rowCount: number
  /** Lines that accepted rows take beyond one each, for line ends in columns that are ignored. */
  readonly furtherLineCount: number
  readonly rejectedCount: number
  readonly rejects: readonly Rejects[]
}

export interface ReadOptions {
  /** Bytes read so far, and of all files together; each file is read twice, and counted once. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void
}

interface InputFile {
  readonly path: string
  readonly bytes: number
  readonly survey: Survey
  readonly header: Header
}

/** Of the time that a file takes, what the survey does; for progress only. */
const SURVEY_SHARE = 0.1

/**
 * Reads files in the order given, each with a header that names `number`, `lat`, `lng` and
 * optionally `contact`; other columns are ignored. Rows that cannot be used are counted by reason.
 * A file that cannot be used as a whole is an OperatorError `InputRejected`.
 */
export async function readRecipientFiles(
  paths: readonly string[],
  options: ReadOptions = {},
): Promise<RecipientRead> {
  const sizes: number[] = []
  for (const path of paths) sizes.push(await inputBytes(path))
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0)
  let doneBytes = 0
  const report = (bytes: number) => options.onProgress?.(Math.floor(doneBytes + bytes), totalBytes)

  const files: InputFile[] = []
  for (const [index, path] of paths.entries()) {
    const survey = await surveyFile(path, (bytes) => report(bytes * SURVEY_SHARE))
    files.push({ path, bytes: sizes[index], survey, header: readHeader(path, survey.header) })
    doneBytes += sizes[index] * SURVEY_SHARE
  }

  const collector = new RecipientCollector()
  const tally = new RejectTally()
  let furtherLineCount = 0
  await withCsvDatabase(paths, async (connection) => {
    for (const file of files) {
      const rowBytes = ((1 - SURVEY_SHARE) * file.bytes) / file.survey.lineCount
      const scan = await scanFile(connection, file, collector, (rows) => report(rows * rowBytes))
      furtherLineCount += placeRows(file.path, file.survey, scan, tally)
      doneBytes += (1 - SURVEY_SHARE) * file.bytes
    }
  })
  const columns = collector.finish()
  return {
    columns,
    rowCount: columns.recipientCount + tally.count,
    furtherLineCount,
    rejectedCount: tally.count,
    rejects: tally.list(),
  }
}

async function scanFile(
  connection: DuckDBConnection,
  { path, survey, header }: InputFile,
  collector: RecipientCollector,
  onRows: (rowCount: number) => void,
): Promise<RowScan> {
  try {
    return await scanRows(connection, path, survey, header, collector, onRows)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    // Only the kind of it, and no cause: DuckDB's message quotes the line, which is personal data.
    const [kind] = /^[A-Z][A-Za-z ]{0,40} Error(?=:)/.exec(String((error as Error).message)) ?? ['']
    // The survey has unpacked it, so what is wrong is a kind of gzip that DuckDB does not know.
    const hint =
      survey.isGzip && kind === 'IO Error'
        ? 'this kind of gzip is not supported: unpack it, or compress it again'
        : lineEndHint(survey)
    throw new OperatorError(
      'InputRejected',
      `${path} cannot be read as CSV: ${hint} (DuckDB: ${kind || 'unknown error'})`,
    )
  }
}
