/**
 * Recipients from a query to PostgreSQL: copied in binary, checked row by row, never held as a whole.
 *
 * @module
 */
import type { Client } from 'pg'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type {
  ColumnNames,
  OnReadProgress,
  ReadReport,
  RecipientSink,
  RowOptions,
} from '../batch.js'
import type { ChosenColumns } from '../choose-columns.js'
import { type Preview, PreviewSink, type WrapSink } from '../preview.js'
import type { RejectedSink } from '../rows/rejects.js'
import { CopyOut } from './copy-out.js'
import { CopyRows } from './copy-rows.js'
import { readFault } from './faults.js'
import { type CopyPlan, FIELD_COUNT, planCopy } from './query.js'
import { PostgresRows } from './rows.js'
import { type SessionTimes, withSession } from './session.js'
import { type DatabaseAddress, parseDatabaseUrl, shownPlace, shownUrl } from './url.js'

interface PostgresInput {
  /** `postgres://user@host:5432/database?sslmode=verify-full`, with or without a password. */
  readonly url: string
  /** One SELECT. */
  readonly query: string
  /** Of another session that exported it, to read what that one saw. */
  readonly snapshotName?: string | undefined
  /** A geometry is named as both `lat` and `lng`. */
  readonly columns: ColumnNames
  readonly rowOptions?: RowOptions | undefined
}

interface PostgresOptions {
  readonly onProgress?: OnReadProgress | undefined
  /** Gets every rejected row. */
  readonly rejected?: RejectedSink | undefined
  /** Those of `limits`, unless a test has less time. */
  readonly times?: SessionTimes
}

/**
 * Reads all rows of the query.
 *
 * @throws OperatorError  for everything that can be wrong with the database or the query; what the
 *   sink was given then is not all
 */
export async function readPostgres(
  input: PostgresInput,
  sink: RecipientSink,
  options: PostgresOptions = {},
): Promise<ReadReport> {
  return (await read(input, sink, options)).report
}

/** Reads all rows and keeps the first that would be taken. */
export async function previewPostgres(
  input: PostgresInput,
  rowCount: number,
  { wrap = (sink) => sink, ...options }: PostgresOptions & { readonly wrap?: WrapSink } = {},
): Promise<Preview> {
  const sink = new PreviewSink(rowCount)
  const { columns, report } = await read(input, wrap(sink), options)
  return { columns, rows: sink.rows, report }
}

/** Rows from one report of progress to the next. */
const PROGRESS_ROW_COUNT = 10_000

async function read(
  input: PostgresInput,
  sink: RecipientSink,
  { onProgress, rejected, times = DEFAULT_TIMES }: PostgresOptions,
): Promise<{ columns: ChosenColumns; report: ReadReport }> {
  const address = parseDatabaseUrl(input.url)
  const copied = async (client: Client) => {
    const plan = await planCopy(client, address, input.query, input.columns)
    const report = await copyRows(
      client,
      address,
      plan,
      { sink, rejected, options: input.rowOptions ?? {} },
      onProgress,
    )
    return { columns: plan.chosen, report }
  }
  return withSession(address, times, copied, input.snapshotName)
}

const DEFAULT_TIMES: SessionTimes = {
  connectMs: limits.databaseConnectMs,
  stallMs: limits.databaseStallMs,
}

interface RowsTarget {
  readonly sink: RecipientSink
  readonly rejected: RejectedSink | undefined
  readonly options: RowOptions
}

async function copyRows(
  client: Client,
  address: DatabaseAddress,
  plan: CopyPlan,
  { sink, rejected, options }: RowsTarget,
  onProgress: OnReadProgress | undefined,
): Promise<ReadReport> {
  const taken = new PostgresRows(plan, shownPlace(address), sink, options, rejected)
  const rows = new CopyRows(FIELD_COUNT, taken.take)
  let reportedCount = 0
  let fault: unknown
  const copy = new CopyOut(plan.text, (bytes) => {
    try {
      rows.push(bytes)
    } catch (error) {
      // An error of the sink or of a callback is no fault of the connection.
      fault = error
      throw error
    }
    if (rows.rowCount - reportedCount < PROGRESS_ROW_COUNT) return
    reportedCount = rows.rowCount
    onProgress?.(reportedCount, 0, 'rows')
  })
  client.query(copy)
  let sentCount: number
  try {
    sentCount = await copy.rowCount
  } catch (error) {
    throw fault ?? readFault(error, address)
  }
  const report = taken.finish()
  if (!rows.isEnded || sentCount !== report.rowCount) {
    throw new OperatorError(
      'InputRejected',
      `${shownUrl(address)}: the server says that it sent ${sentCount} rows, but ` +
        `${report.rowCount} came: the copy is not complete, try again`,
    )
  }
  onProgress?.(report.rowCount, report.rowCount, 'rows')
  return report
}
