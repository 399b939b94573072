/**
 * The same counts, driven by wrk: a generator that leaves the service more of the machine.
 *
 * @module
 */
import { driveByWrk, type WrkFigures } from '../generator/wrk.js'
import type { ServerProcess } from '../harness/processes.js'
import { PROCESSOR_HEADER, processorCells, processorFigures } from '../harness/processor-table.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const countsByWrk: Scenario = {
  name: 'counts-wrk',
  summary: 'how many of the same counts, driven by wrk, which takes less of the machine?',
  run: async (stage): Promise<Finding> => {
    const service = await drive(stage, stage.service)
    const echo = await drive(stage, stage.echo)
    const ratioToEcho = service.perSecond / echo.perSecond
    return {
      table: {
        title: 'counts of drawn polygons by wrk, one thread, closed loop; answers are not compared',
        header: ['', 'requests/s', 'p50 ms', 'p99 ms', 'failed', 'to echo', ...PROCESSOR_HEADER],
        rows: [rowOf('service', service, ratioToEcho), rowOf('echo', echo, 1)],
      },
      figures: {
        countsPerSecond: service.perSecond,
        ratioToEcho,
        p50Ms: service.p50Ms,
        p99Ms: service.p99Ms,
        failedShare: service.failedCount / service.answeredCount,
        echoPerSecond: echo.perSecond,
        echoP50Ms: echo.p50Ms,
        echoP99Ms: echo.p99Ms,
        ...processorFigures(service.processor, echo.processor),
      },
      faults: [...faultsOf('service', service), ...faultsOf('echo', echo)],
    }
  },
}

function drive(
  { counts, options, signal }: Stage,
  { url, pid, failure }: ServerProcess,
): Promise<WrkFigures> {
  const { connectionCount, warmUpSeconds, measuredSeconds: seconds } = options
  const bodies = counts.map(({ body }) => body)
  const plan = { url, pid, bodies, connectionCount, warmUpSeconds, seconds, signal }
  return Promise.race([driveByWrk(plan), failure])
}

function rowOf(name: string, figures: WrkFigures, ratioToEcho: number): string[] {
  const { perSecond, p50Ms, p99Ms, failedCount, processor } = figures
  return [
    name,
    formatCount(perSecond),
    ...[p50Ms, p99Ms].map(formatFigure),
    formatCount(failedCount),
    formatFigure(ratioToEcho),
    ...processorCells(processor),
  ]
}

/** A service that gets no core for a tenth of a second refuses some, and is right. */
const FAILED_SHARE_MAX = 0.5

function faultsOf(name: string, { answeredCount, failedCount }: WrkFigures): string[] {
  if (answeredCount === 0) return [`${name}: no answer at all`]
  if (failedCount <= FAILED_SHARE_MAX * answeredCount) return []
  return [`${name}: ${formatCount(failedCount)} of ${formatCount(answeredCount)} requests failed`]
}
