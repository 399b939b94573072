/**
 * `--json`: what became of an import as one JSON document, also if it failed.
 *
 * @module
 */
import { CommanderError } from 'commander'
import { OperatorError } from '../../errors.js'
import type { ReadReport } from '../../sources/batch.js'
import { rejectReasons } from '../../sources/rows/rejects.js'
import { print, withoutPrinting } from '../output.js'
import type { Outcome } from './report.js'
import type { ImportSource } from './source.js'

/** What is known so far; it is filled in as the import goes on. */
export class ImportRecord {
  sources: readonly ImportSource[] = []
  isDryRun = false
  /** In the order of the sources. One that ended the import has none. */
  readonly outcomes: Outcome[] = []
  readonly reports = new Map<number, ReadReport>()
  snapshotId: string | undefined
  /** Whether what was read is what was current already. */
  isUnchanged = false
}

/** Prints nothing but the document. What `use` throws comes after it. */
export async function withJsonReport(use: (record: ImportRecord) => Promise<void>): Promise<void> {
  const record = new ImportRecord()
  const startedAt = new Date()
  let error: unknown
  try {
    await withoutPrinting(() => use(record))
  } catch (fault) {
    error = fault
  }
  print(JSON.stringify(documentOf(record, startedAt, error), null, 2))
  if (error !== undefined) throw error
}

function documentOf(record: ImportRecord, startedAt: Date, error: unknown) {
  const finishedAt = new Date()
  return {
    dryRun: record.isDryRun,
    published: record.snapshotId !== undefined,
    snapshotId: record.snapshotId ?? null,
    unchanged: record.isUnchanged,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
    seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    sources: record.sources.map((source) => sourceOf(record, source)),
    error: error === undefined ? null : errorOf(error),
  }
}

function sourceOf({ outcomes, reports, snapshotId }: ImportRecord, { id, label }: ImportSource) {
  const outcome = outcomes.find((one) => one.id === id)
  const report = reports.get(id)
  const isPublished = snapshotId !== undefined && outcome?.failure === undefined
  return {
    id,
    label: outcome?.label ?? label ?? null,
    published: isPublished,
    failure: outcome?.failure ?? null,
    ...(report === undefined ? { rowCount: null } : countsOf(report)),
  }
}

function countsOf(report: ReadReport) {
  const { rowCount, acceptedCount, rejectedCount, rejects } = report
  const { furtherLineCount, normalizedCount } = report
  return {
    rowCount,
    acceptedCount,
    rejectedCount,
    furtherLineCount,
    normalizedCount,
    rejects: rejects.map(({ reason, count, examples }) => ({
      reason,
      meaning: rejectReasons[reason],
      count,
      examples: examples.map(({ file, unit, line }) => ({ file, unit, place: line })),
    })),
  }
}

function errorOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof CommanderError) {
    const { code, exitCode } = new OperatorError('Usage', message)
    return { code, exitCode, message: message.replace(/^error: /, '') }
  }
  if (!(error instanceof OperatorError)) return { code: 'Failed', exitCode: 1, message }
  return { code: error.code, exitCode: error.exitCode, message }
}
