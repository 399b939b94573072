/**
 * Reads a text file whose records are lines: CSV, JSON lines, or the features of a collection. DuckDB
 * tells the records apart, and a survey counts the lines, so that none of them is lost.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { OperatorError } from '../../errors.js'
import type { PlaceUnit, RejectReason } from '../rows/rejects.js'
import type { RowSource } from '../rows/row-query.js'
import { type RowScan, type RowTarget, scanRows } from '../rows/row-scan.js'
import { type BrokenRecords, brokenRecords } from './broken-records.js'
import type { RowFields } from './long-rows.js'
import { lineEndHint, placeRows } from './row-places.js'
import type { Survey } from './survey.js'
import { surveyAside } from './survey-thread.js'
import { forgetRejects, readText, type TextLayout } from './text-query.js'

export interface TextFile {
  /** The file in messages: its path, or where it came from. */
  readonly name: string
  readonly byteCount: number
  readonly markBytes: number
  readonly unit: PlaceUnit
  readonly layout: TextLayout
  /** Absent where each record is a line. */
  readonly fields?: RowFields
  /**
   * @param from  of `readText`
   * @param isPlain  whether each record is known to be one line without control characters
   */
  readonly rows: (from: string, isPlain: boolean) => RowSource
  readonly fieldCountReason: RejectReason
  /** The format in messages. */
  readonly kind: 'CSV' | 'JSON lines' | 'GeoJSON'
}

export interface FileRead {
  readonly acceptedCount: number
  readonly furtherLineCount: number
  readonly normalizedCount: number
}

/** The facts about a file that are relied on while its rows are read. */
interface Known {
  readonly isParallel: boolean
  readonly isPlain: boolean
}

const IN_DOUBT: Known = { isParallel: false, isPlain: false }
/** Less is read one after the other. */
const PARALLEL_BYTES_MIN = 1 << 20
/** Of the time that a file takes, what it takes to survey it; for progress only. */
const SURVEY_SHARE = 0.25

/** @param onShare  called now and then with how much of the file is done, from 0 to 1 */
export async function readTextFile(
  connection: DuckDBConnection,
  file: TextFile,
  target: RowTarget,
  onShare: (share: number) => void,
): Promise<FileRead> {
  const { layout, name, byteCount, markBytes } = file
  const isPacked = layout.packing !== 'none'
  const task = {
    ...{ path: layout.path, name, lineEnd: layout.lineEnd, markBytes },
    ...(file.fields !== undefined && { fields: file.fields }),
  }
  const tell = onlyMore(onShare)
  const surveyShare = isPacked ? 1 : SURVEY_SHARE
  const surveying = surveyAside(task, byteCount, (bytes) => tell((surveyShare * bytes) / byteCount))
  // Awaited once the scan is over; should that be refused, its error is the one to be seen.
  surveying.catch(neverMind)
  let scan: RowScan
  let broken: BrokenRecords
  try {
    scan = isPacked
      ? await scanText(connection, file, target, IN_DOUBT, neverMind)
      : await scanUnpacked(connection, file, surveying, target, tell)
    broken = await brokenRecords(connection, file.fieldCountReason)
  } catch (error) {
    // If both fail, what the survey says is the cause.
    throw error instanceof OperatorError ? error : unreadable(file, await surveying, error)
  }
  const { skippedCount } = layout
  const read = {
    name,
    unit: file.unit,
    skippedCount,
    survey: await surveying,
    scan,
    broken,
    texts: target.texts,
  }
  const { acceptedCount, normalizedCount } = scan
  return { acceptedCount, normalizedCount, furtherLineCount: placeRows(read, target.tally) }
}

/**
 * Reads the rows on all cores, as those of a file that has nothing unusual, while the survey is under
 * way. If that turns out otherwise they are forgotten, and read again in doubt.
 */
async function scanUnpacked(
  connection: DuckDBConnection,
  file: TextFile,
  surveying: Promise<Survey>,
  target: RowTarget,
  onShare: (share: number) => void,
): Promise<RowScan> {
  let lineCount = Number.POSITIVE_INFINITY
  surveying.then((survey) => {
    lineCount = survey.lineCount
  }, neverMind)
  const onRows = (rowCount: number) =>
    onShare(SURVEY_SHARE + ((1 - SURVEY_SHARE) * rowCount) / lineCount)
  if (file.byteCount < PARALLEL_BYTES_MIN) {
    return await scanText(connection, file, target, IN_DOUBT, onRows)
  }
  const { layout } = file
  // A tab between fields and the end of a line by CR are control characters.
  const isPlain = layout.lineEnd === '\n' && layout.delimiter !== '\t'
  const start = { recipientCount: target.sink.recipientCount, keys: target.keys.mark() }
  const scan = await tryScan(connection, file, target, { isParallel: true, isPlain }, onRows)
  const survey = await surveying
  const isParallel = scan !== undefined && isWhole(file, survey, scan.rowCount)
  if (isParallel && !(isPlain && survey.hasControls)) return scan
  target.sink.truncate(start.recipientCount)
  target.keys.truncate(start.keys)
  return await scanText(connection, file, target, { isParallel, isPlain: false }, onRows)
}

/**
 * Undefined if DuckDB finds anything wrong with the file: then it may leave out what follows, and may
 * not when it reads one piece after the other.
 */
async function tryScan(
  connection: DuckDBConnection,
  file: TextFile,
  target: RowTarget,
  known: Known,
  onRows: (rowCount: number) => void,
): Promise<RowScan | undefined> {
  try {
    const scan = await scanText(connection, file, target, known, onRows)
    const rejected = await connection.runAndReadAll('SELECT count(*)::DOUBLE FROM reject_errors')
    return rejected.value(0, 0) === 0 ? scan : undefined
  } catch {
    // Of rows that were not told apart rightly; if it was not that, it comes again.
    return undefined
  }
}

/**
 * Whether the rows counted are all lines of a file that has nothing unusual: no record can have
 * several lines, and there are as many records as lines that are not blank.
 */
function isWhole(file: TextFile, survey: Survey, rowCount: number): boolean {
  const { skippedCount } = file.layout
  const blankCount = survey.blankLines.filter((line) => line > skippedCount).length
  return (
    rowCount === survey.lineCount - skippedCount - blankCount &&
    survey.isUtf8 &&
    // The count alone does not tell: a record of several lines may be made up for by lines within it.
    !survey.hasLooseQuotes &&
    survey.longLine === undefined &&
    !survey.hasOtherLineEnds
  )
}

async function scanText(
  connection: DuckDBConnection,
  file: TextFile,
  target: RowTarget,
  { isParallel, isPlain }: Known,
  onRows: (rowCount: number) => void,
): Promise<RowScan> {
  for (const statement of forgetRejects) await connection.run(statement)
  const source = file.rows(readText(file.layout, isParallel), isPlain)
  return scanRows(connection, source, target, onRows)
}

/** Of a second pass over a file only the progress beyond the first one is reported. */
function onlyMore(onShare: (share: number) => void): (share: number) => void {
  let reached = 0
  return (share) => {
    if (share <= reached) return
    reached = share
    onShare(share)
  }
}

function neverMind(): void {}

/** Only the kind of it, and no cause: DuckDB's message quotes the line, which is personal data. */
function unreadable(file: TextFile, survey: Survey, error: unknown): Error {
  const [kind] = /^[A-Z][A-Za-z ]{0,40} Error(?=:)/.exec(String((error as Error).message)) ?? ['']
  const { packing } = file.layout
  // The survey has unpacked it, so what is wrong is a kind of packing that DuckDB does not know.
  const hint =
    packing !== 'none' && kind === 'IO Error'
      ? `this kind of ${packing} is not supported: unpack it, or compress it again`
      : lineEndHint(survey)
  return new OperatorError(
    'InputRejected',
    `${file.name} cannot be read as ${file.kind}: ${hint} (DuckDB: ${kind || 'unknown error'})`,
  )
}
