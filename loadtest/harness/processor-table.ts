/**
 * Processor time in columns and figures.
 *
 * @module
 */
import type { ProcessorUse } from './processor-time.js'
import { formatFigure } from './table.js'

export const PROCESSOR_HEADER = ['front µs', 'query µs', 'other µs', 'idle']

/** Empty where the system does not say it. */
export function processorCells(use: ProcessorUse | undefined): string[] {
  if (use === undefined) return PROCESSOR_HEADER.map(() => '')
  const { frontMicroseconds, queryMicroseconds, otherMicroseconds, idleShare } = use
  const micros = [frontMicroseconds, queryMicroseconds, otherMicroseconds].map(formatFigure)
  return [...micros, `${Math.round(100 * idleShare)} %`]
}

/** Of the service and of the echo server, for the JSON file. */
export function processorFigures(
  service: ProcessorUse | undefined,
  echo: ProcessorUse | undefined,
): Record<string, number> {
  if (service === undefined || echo === undefined) return {}
  return {
    ...service,
    frontCostToEchoRatio: service.frontMicroseconds / echo.frontMicroseconds,
    echoFrontMicroseconds: echo.frontMicroseconds,
    echoOtherMicroseconds: echo.otherMicroseconds,
    echoIdleShare: echo.idleShare,
  }
}
