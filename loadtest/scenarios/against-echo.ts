/**
 * The same requests to the service and to the echo server, one after the other.
 *
 * @module
 */
import type { KnownRequest } from '../answers.js'
import { type DriveFigures, drive } from '../drive.js'
import { formatCount, formatFigure } from '../table.js'
import type { Finding, Stage } from './scenario.js'

export async function compareWithEcho(
  title: string,
  stage: Stage,
  requests: readonly KnownRequest[],
): Promise<Finding> {
  const { service, echo, signal, options } = stage
  const measured: DriveFigures[] = []
  for (const server of [service, echo]) {
    const { connectionCount, warmUpSeconds, measuredSeconds } = options
    const common = { url: server.url, requests, connectionCount, signal }
    const compareAnswers = server === service
    const whole = async () => {
      await drive({ ...common, compareAnswers: false, seconds: warmUpSeconds })
      return drive({ ...common, compareAnswers, seconds: measuredSeconds })
    }
    measured.push(await Promise.race([whole(), server.failure]))
  }
  const [serviceFigures, echoFigures] = measured
  return {
    table: {
      title: `${title}; service ${megabytes(service.residentBytes())} resident`,
      header: HEADER,
      rows: [
        toRow('service', serviceFigures, echoFigures),
        toRow('echo: the same library, a constant answer', echoFigures, echoFigures),
      ],
    },
    figures: { servicePerSecond: serviceFigures.perSecond, echoPerSecond: echoFigures.perSecond },
    faults: [...faultsOf('service', serviceFigures), ...faultsOf('echo', echoFigures)],
  }
}

const HEADER = [
  'closed loop',
  'requests/s',
  'slowest s',
  'fastest s',
  'p50 ms',
  'p99 ms',
  'max ms',
  '2xx',
  'failed',
  'generator busy',
  'to echo',
]

function toRow(name: string, figures: DriveFigures, echo: DriveFigures): string[] {
  return [
    name,
    formatCount(figures.perSecond),
    formatCount(figures.perSecondMin),
    formatCount(figures.perSecondMax),
    formatFigure(figures.p50Ms),
    formatFigure(figures.p99Ms),
    formatFigure(figures.maxMs),
    formatCount(figures.successCount),
    formatCount(figures.failedCount),
    `${Math.round(100 * figures.generatorBusyShare)} %`,
    formatFigure(figures.perSecond / echo.perSecond),
  ]
}

function faultsOf(name: string, figures: DriveFigures): string[] {
  const counts = {
    'connection errors': figures.errorCount - figures.timeoutCount,
    timeouts: figures.timeoutCount,
    'answers other than 2xx': figures.non2xxCount,
    'answers that differ from the known one': figures.wrongCount,
    'requests without an answer': figures.lostCount,
  }
  const faults = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${name}: ${count} ${what}`)
  return figures.successCount > 0 ? faults : [...faults, `${name}: no answer at all`]
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown MB' : `${formatCount(bytes / 1e6)} MB`
}
