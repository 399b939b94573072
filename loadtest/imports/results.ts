/**
 * The figures of a benchmark of imports, as they are kept.
 *
 * @module
 */
import { type Figure, figureOf } from '../harness/results.js'
import type { InputFormat } from './options.js'

/** What a result file holds. */
export interface ImportResults {
  readonly format: typeof IMPORT_RESULTS_FORMAT
  readonly date: string
  readonly machine: string
  readonly commit: string | null
  readonly seed: number
  readonly runCount: number
  /** By ascending number of recipients. */
  readonly sizes: readonly SizeResult[]
}

/** What was measured of one number of recipients. */
export interface SizeResult {
  readonly recipientCount: number
  /** DuckDB reading every column of the CSV file. */
  readonly scanMs: Figure
  readonly imports: readonly ImportResult[]
  readonly snapshotBytes: number
  /** From the start of the service to its first answer. */
  readonly startMs: Figure
  /** What the service holds once it has answered. */
  readonly residentBytes: Figure
  /** Of one thread, the median over passes. */
  readonly drawnMicros: number
  readonly countyMicros: number
}

export interface ImportResult {
  readonly format: InputFormat
  /** Unknown of a table. */
  readonly inputBytes: number | undefined
  readonly wallMs: Figure
  /** The time of each run by that of the scan of the same round. */
  readonly toScan: Figure
  readonly peakBytes: Figure
}

export const IMPORT_RESULTS_FORMAT = 'hickory-imports-1'

/** One import, beside the scan of its round. */
export interface ImportRun {
  readonly wallMs: number
  readonly peakBytes: number
  readonly scanMs: number
}

export function summarizeImport(
  format: InputFormat,
  inputBytes: number | undefined,
  runs: readonly ImportRun[],
): ImportResult {
  return {
    format,
    inputBytes,
    wallMs: figureOf(runs.map(({ wallMs }) => wallMs)),
    toScan: figureOf(runs.map(({ wallMs, scanMs }) => wallMs / scanMs)),
    peakBytes: figureOf(runs.map(({ peakBytes }) => peakBytes)),
  }
}

/** @throws Error  when it is not a result file */
export function parseImportResults(json: string, name: string): ImportResults {
  const results = JSON.parse(json) as Partial<ImportResults>
  if (results.format === IMPORT_RESULTS_FORMAT) return results as ImportResults
  throw new Error(`${name} is not a result of npm run bench:import`)
}
