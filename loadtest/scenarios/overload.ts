/**
 * What does the service still do when three times as much is asked as it can do?
 *
 * @module
 */
import { type DriveFigures, faultsOf } from '../harness/drive.js'
import { DRIVE_HEADER, driveRow } from '../harness/drive-table.js'
import { describeResident, type Resident, watchResident } from '../harness/resident.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { driveClosed, driveOpen } from './drives.js'
import { askHeavy } from './heavy-requests.js'
import type { Finding, Scenario } from './scenario.js'

export const overload: Scenario = {
  name: 'overload',
  summary: 'how much does the service answer when it gets three times as many requests?',
  run: async (stage) => {
    // Of its own, since it takes more memory afterwards.
    const service = await stage.startService()
    const requests = await askHeavy(stage, service)
    const peak = await driveClosed(stage, service, requests, true)
    const { result: over, resident } = await watchResident(service, () =>
      driveOpen(stage, service, requests, {
        connectionCount: CONNECTION_COUNT,
        ratePerSecond: Math.ceil(OVERLOAD_FACTOR * peak.successPerSecond),
        warmUpSeconds: 0,
        seconds: stage.options.overloadSeconds,
      }),
    )
    return findingOf(peak, over, resident)
  },
}

const OVERLOAD_FACTOR = 3
/** So many that a request hardly ever waits for a connection, not even when answers take long. */
const CONNECTION_COUNT = 2_000

const OVERLOAD_HEADER = [
  'offered/s',
  'sent/s',
  'right/s',
  'refused',
  'their p99 ms',
  'resets',
  'time-outs',
]

function findingOf(peak: DriveFigures, over: DriveFigures, resident: Resident): Finding {
  const goodputShare = over.successPerSecond / peak.successPerSecond
  const row = (name: string, figures: DriveFigures) => [
    ...driveRow(name, figures),
    formatCount(figures.offeredPerSecond),
    formatCount(figures.sentPerSecond),
    formatCount(figures.successPerSecond),
    formatCount(figures.refusedCount),
    formatFigure(figures.refusedP99Ms),
    formatCount(figures.lostCount - figures.timeoutCount),
    formatCount(figures.timeoutCount),
  ]
  return {
    table: {
      title:
        `large shapes at ${OVERLOAD_FACTOR} times the peak: goodput is ` +
        `${formatFigure(goodputShare)} of the peak; service ${describeResident(resident)}`,
      header: [...DRIVE_HEADER, ...OVERLOAD_HEADER],
      rows: [row('closed loop', peak), row('open loop, overload', over)],
    },
    figures: {
      peakPerSecond: peak.successPerSecond,
      offeredPerSecond: over.offeredPerSecond,
      goodputPerSecond: over.successPerSecond,
      goodputShare,
      p50Ms: over.p50Ms,
      p99Ms: over.p99Ms,
      refusedCount: over.refusedCount,
      refusedP99Ms: over.refusedP99Ms,
      resetCount: over.lostCount - over.timeoutCount,
      timeoutCount: over.timeoutCount,
      unsentCount: over.unsentCount,
      residentBeforeMegabytes: resident.beforeBytes / 1e6,
      residentPeakMegabytes: resident.peakBytes / 1e6,
      residentAfterMegabytes: resident.afterBytes / 1e6,
      generatorBusyShare: over.generatorBusyShare,
    },
    faults: [...faultsOf('closed loop', peak), ...faultsOf('overload', over, true)],
  }
}
