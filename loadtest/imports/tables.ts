/**
 * The figures of imports in columns.
 *
 * @module
 */
import type { Figure } from '../harness/results.js'
import { formatCount, formatFigure, type Table } from '../harness/table.js'
import type { SizeResult } from './results.js'

/** What one number of recipients takes, in each format. */
export function sizeTable(size: SizeResult): Table {
  const { recipientCount, scanMs, imports } = size
  const rate = (milliseconds: number) => formatCount((1000 * recipientCount) / milliseconds)
  const rows = imports.map(({ format, inputBytes, wallMs, toScan, peakBytes }) => [
    `import of ${format}`,
    inputBytes === undefined ? '–' : megabytes(inputBytes),
    seconds(wallMs.median),
    spread(wallMs, seconds),
    rate(wallMs.median),
    formatFigure(toScan.median),
    spread(toScan, formatFigure),
    megabytes(peakBytes.max),
  ])
  const scan = [
    'scan of csv',
    megabytes(imports.find(({ format }) => format === 'csv')?.inputBytes ?? 0),
    seconds(scanMs.median),
    spread(scanMs, seconds),
    rate(scanMs.median),
    '1',
    '–',
    '–',
  ]
  return {
    title: `${formatCount(recipientCount)} recipients`,
    header: ['', 'MB', 's', 'least–most', 'rows/s', 'to scan', 'least–most', 'peak MB'],
    rows: [scan, ...rows],
  }
}

/** How everything grows; a row for each number of recipients. */
export function scaleTable(sizes: readonly SizeResult[]): Table {
  return {
    title: 'growth',
    header: [
      'recipients',
      'scan s',
      'import of csv s',
      'to scan',
      'peak MB',
      'snapshot MB',
      'start s',
      'resident MB',
      'drawn µs',
      'county µs',
    ],
    rows: sizes.map((size) => {
      const csv = size.imports.find(({ format }) => format === 'csv')
      return [
        formatCount(size.recipientCount),
        seconds(size.scanMs.median),
        csv === undefined ? '–' : seconds(csv.wallMs.median),
        csv === undefined ? '–' : formatFigure(csv.toScan.median),
        csv === undefined ? '–' : megabytes(csv.peakBytes.max),
        megabytes(size.snapshotBytes),
        seconds(size.startMs.median),
        megabytes(size.residentBytes.median),
        formatFigure(size.drawnMicros),
        formatFigure(size.countyMicros),
      ]
    }),
  }
}

const seconds = (milliseconds: number) => formatFigure(milliseconds / 1000)
const megabytes = (bytes: number) => formatCount(bytes / 1e6)

function spread({ min, max }: Figure, format: (value: number) => string): string {
  return `${format(min)}–${format(max)}`
}
