/**
 * Figures of drives in columns.
 *
 * @module
 */
import type { DriveFigures } from './drive.js'
import { formatCount, formatFigure } from './table.js'

export const DRIVE_HEADER = [
  '',
  'requests/s',
  'slowest s',
  'fastest s',
  'p50 ms',
  'p99 ms',
  'p99.9 ms',
  'max ms',
  '2xx',
  'failed',
  'generator busy',
]

export function driveRow(name: string, figures: DriveFigures): string[] {
  return [
    name,
    formatCount(figures.perSecond),
    formatCount(figures.perSecondMin),
    formatCount(figures.perSecondMax),
    formatFigure(figures.p50Ms),
    formatFigure(figures.p99Ms),
    formatFigure(figures.p999Ms),
    formatFigure(figures.maxMs),
    formatCount(figures.successCount),
    formatCount(figures.failedCount),
    formatShare(figures.generatorBusyShare),
  ]
}

function formatShare(share: number): string {
  return `${Math.round(100 * share)} %`
}
