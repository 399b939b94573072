/**
 * The same overload, driven by wrk: a generator that does not hold up what it measures. The one in Node.js
 * stops for a tenth of a second now and then, which is more than a refusal takes.
 *
 * @module
 */
import { driveByWrk, type WrkFigures } from '../generator/wrk.js'
import { PROCESSOR_HEADER, processorCells } from '../harness/processor-table.js'
import { describeResident, type Resident, watchResident } from '../harness/resident.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { askHeavy } from './heavy-requests.js'
import type { Finding, Scenario } from './scenario.js'

export const overloadByWrk: Scenario = {
  name: 'overload-wrk',
  summary: 'how long do answers and refusals take then, driven by wrk?',
  run: async ({ options, signal, ...stage }) => {
    // Of its own, since it takes more memory afterwards.
    const service = await stage.startService()
    const requests = await askHeavy({ options, signal, ...stage }, service)
    const { connectionCount, warmUpSeconds, measuredSeconds: seconds, overloadSeconds } = options
    const { url, pid, failure } = service
    const bodies = requests.map(({ body }) => body)
    const usual = { url, pid, bodies, connectionCount, warmUpSeconds, seconds, signal }
    const peak = await Promise.race([driveByWrk(usual), failure])
    const thinkMs = (1_000 * OVERLOAD_CONNECTION_COUNT) / (OVERLOAD_FACTOR * peak.perSecond)
    const { result: over, resident } = await watchResident(service, () => {
      const plan = { connectionCount: OVERLOAD_CONNECTION_COUNT, thinkMs, seconds: overloadSeconds }
      return Promise.race([driveByWrk({ ...usual, ...plan }), failure])
    })
    return findingOf(peak, over, overloadSeconds, resident)
  },
}

/** Of the rate at which requests come, if they were answered at once; answers make it a little less. */
const OVERLOAD_FACTOR = 3
/** So many that most of them are thinking. */
const OVERLOAD_CONNECTION_COUNT = 2_000

function findingOf(
  peak: WrkFigures,
  over: WrkFigures,
  overloadSeconds: number,
  resident: Resident,
): Finding {
  const goodputShare = over.perSecond / peak.perSecond
  const offeredPerSecond = over.answeredCount / overloadSeconds
  const row = (name: string, figures: WrkFigures) => [
    name,
    formatCount(figures.perSecond),
    ...[figures.p50Ms, figures.p99Ms].map(formatFigure),
    formatCount(figures.failedCount),
    ...[figures.faultP50Ms, figures.faultP99Ms].map(formatFigure),
    ...processorCells(figures.processor),
  ]
  return {
    table: {
      title:
        `large shapes by wrk, at ${formatFigure(offeredPerSecond / peak.perSecond)} times the peak: ` +
        `goodput is ${formatFigure(goodputShare)} of the peak; service ${describeResident(resident)}`,
      header: [
        '',
        'right/s',
        'p50 ms',
        'p99 ms',
        'refused',
        'their p50',
        'p99 ms',
        ...PROCESSOR_HEADER,
      ],
      rows: [row('closed loop', peak), row('overload', over)],
    },
    figures: {
      peakPerSecond: peak.perSecond,
      offeredPerSecond,
      goodputPerSecond: over.perSecond,
      goodputShare,
      p50Ms: over.p50Ms,
      p99Ms: over.p99Ms,
      refusedCount: over.failedCount,
      refusedP50Ms: over.faultP50Ms,
      refusedP99Ms: over.faultP99Ms,
      residentBeforeMegabytes: resident.beforeBytes / 1e6,
      residentPeakMegabytes: resident.peakBytes / 1e6,
      residentAfterMegabytes: resident.afterBytes / 1e6,
    },
    // A service that gets no core for a while refuses some, and is right.
    faults: peak.perSecond === 0 || over.perSecond === 0 ? ['there was no right answer'] : [],
  }
}
