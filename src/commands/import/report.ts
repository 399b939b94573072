/**
 * Prints the rows read of each source, and at the end the result of each source.
 *
 * @module
 */
import type { ReadReport } from '../../sources/batch.js'
import type { ChosenColumns } from '../../sources/choose-columns.js'
import type { Preview } from '../../sources/preview.js'
import { type RejectExample, rejectReasons } from '../../sources/rows/rejects.js'
import { print } from '../output.js'
import { formatTable, printable } from '../table.js'
import { drawRejected } from './rejected-map.js'

/** A source of a run of several. */
export interface Outcome {
  readonly id: number
  readonly label: string
  /** Undefined if it could not be read. */
  readonly report: ReadReport | undefined
  /** Why it was not published; undefined if it was. */
  readonly failure: string | undefined
  /** Whether that is because of a guard. */
  readonly hasTripped: boolean
}

export function printSource(id: number, label: string): void {
  print(`source     ${id} ${label}`)
}

export function printReport(report: ReadReport): void {
  print(`rows read  ${report.rowCount}`)
  print(`accepted   ${report.acceptedCount}`)
  print(`rejected   ${report.rejectedCount}`)
  if (report.furtherLineCount > 0) {
    print(`further lines ${report.furtherLineCount}, of accepted rows with line ends in fields`)
  }
  if (report.normalizedCount > 0) print(`normalized ${report.normalizedCount} numbers were changed`)
  for (const { reason, count, examples } of report.rejects) {
    print(`  ${reason} ${count}: ${rejectReasons[reason]}`)
    print(`    ${examples.map(place).join(', ')}${count > examples.length ? ', …' : ''}`)
  }
  const { rejectedMap, rejectedCount } = report
  if (rejectedMap === undefined) return
  for (const line of drawRejected(rejectedMap, rejectedCount)) print(line)
}

export function printPreview({ columns, rows, report }: Preview): void {
  print(`columns    ${chosenColumns(columns)}`)
  if (rows.length > 0) {
    print()
    const cells = rows.map(({ phone, lat, lng, contact }) => [phone, lat, lng, contact])
    for (const line of formatTable(['<number', 'lat', 'lng', '<contact'], cells)) print(line)
    print()
  }
  printReport(report)
}

export function printSummary(outcomes: readonly Outcome[], done: string): void {
  const rows = outcomes.map(({ id, label, report, failure }) => [
    String(id),
    label,
    ...[report?.rowCount, report?.acceptedCount, report?.rejectedCount].map((count) =>
      count === undefined ? '' : String(count),
    ),
    failure === undefined ? done : 'failed',
  ])
  print()
  const heads = ['source', '<label', 'rows read', 'accepted', 'rejected', '<result']
  for (const line of formatTable(heads, rows)) print(line)
  print()
}

export function printTime(startedMs: number): void {
  print(`time       ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
}

function place({ file, line, unit }: RejectExample): string {
  return unit === 'line' ? `${file}:${line}` : `${file} ${unit} ${line}`
}

function chosenColumns(columns: ChosenColumns): string {
  const names = ['number', 'lat', 'lng', 'contact', 'key'] as const
  const isOfGeometry = columns.number !== undefined && (columns.lat ?? columns.lng) === undefined
  const shown = names
    .filter((name) => !isOfGeometry || (name !== 'lat' && name !== 'lng'))
    .map((name) => [name, columns[name]] as const)
    .map(([name, column]) =>
      column === undefined ? `no ${name}` : `${name} from "${printable(column)}"`,
    )
  if (isOfGeometry) shown.splice(1, 0, 'position from the geometry')
  return shown.join(', ')
}
