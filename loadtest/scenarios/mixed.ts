/**
 * The canonical workload: as hard as the service answers, then at half that rate as clients arrive
 * that do not wait for each other, with fresh requests beside it that are held against brute force.
 *
 * @module
 */
import { askAll, type KnownRequest, verifyAnswers } from '../harness/answers.js'
import { type DriveFigures, faultsOf } from '../harness/drive.js'
import { driveRow } from '../harness/drive-table.js'
import { createOracle, type Oracle } from '../harness/oracle.js'
import { describeResident, type Resident, watchResident } from '../harness/resident.js'
import { type Sample, sampleWhile } from '../harness/sampler.js'
import { formatCount } from '../harness/table.js'
import { buildWorkload, type WorkloadItem } from '../requests/workload.js'
import {
  BASELINE_HEADER,
  type Baselines,
  baselineRow,
  driveBaselines,
  ratioOf,
} from './against-baselines.js'
import { driveClosed, driveOpen } from './drives.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const mixed: Scenario = {
  name: 'mixed',
  summary: 'how fast is the canonical workload at the full rate, and at half of it?',
  run: async (stage) => {
    const { options, service, signal, rows } = stage
    const oracle = createOracle(rows)
    const itemsOf = (count: number, seed: number) => workload(stage, oracle, count, seed)
    const items = itemsOf(ITEM_COUNT, options.seed)
    const requests = await askAll(service.url, items, signal)
    verifyAnswers(oracle, items, requests)
    const fresh = itemsOf(FRESH_COUNT, options.seed + 1)
    const watched = await watchResident(service, () =>
      sampleWhile(service.url, fresh, oracle, () => driveService(stage, requests)),
    )
    const { result, sample } = watched.result
    const baselines = await driveBaselines(stage, requests)
    return findingOf(result, baselines, sample, watched.resident)
  },
}

/** All of them are held against brute force before the load begins. */
const ITEM_COUNT = 1_000
const FRESH_COUNT = 1_000
/** Of the rate of the closed loop, in the open one. */
const OPEN_SHARE = 0.5
/** More than it takes to carry that rate while some of them wait. */
const OPEN_CONNECTION_COUNT = 256

interface ServiceFigures {
  readonly closed: DriveFigures
  readonly open: DriveFigures
}

function workload({ rows }: Stage, oracle: Oracle, count: number, seed: number): WorkloadItem[] {
  return buildWorkload(rows, count, seed, (features) => oracle.rowsInside(features).length)
}

async function driveService(
  stage: Stage,
  requests: readonly KnownRequest[],
): Promise<ServiceFigures> {
  const closed = await driveClosed(stage, stage.service, requests, true)
  const open = await driveOpen(stage, stage.service, requests, {
    connectionCount: OPEN_CONNECTION_COUNT,
    ratePerSecond: Math.ceil(OPEN_SHARE * closed.perSecond),
  })
  return { closed, open }
}

function findingOf(
  { closed, open }: ServiceFigures,
  baselines: Baselines,
  sample: Sample,
  resident: Resident,
): Finding {
  const { echo, naive } = baselines
  return {
    table: {
      title:
        `canonical workload; service ${describeResident(resident)}; ` +
        `${formatCount(sample.askedCount)} fresh requests beside it held against brute force`,
      header: BASELINE_HEADER,
      rows: [
        baselineRow('service', closed, baselines),
        [
          ...driveRow(`service, open loop at ${formatCount(open.offeredPerSecond)}/s`, open),
          '',
          '',
        ],
        baselineRow('echo', echo, baselines),
        baselineRow('naive', naive, baselines),
      ],
    },
    figures: {
      requestsPerSecond: closed.perSecond,
      ratioToEcho: ratioOf(closed, echo),
      timesNaive: ratioOf(closed, naive),
      p50Ms: closed.p50Ms,
      p99Ms: closed.p99Ms,
      p999Ms: closed.p999Ms,
      openOfferedPerSecond: open.offeredPerSecond,
      openP50Ms: open.p50Ms,
      openP99Ms: open.p99Ms,
      openP999Ms: open.p999Ms,
      echoPerSecond: echo.perSecond,
      naivePerSecond: naive.perSecond,
      failedCount: closed.failedCount + open.failedCount,
      sampledCount: sample.askedCount,
      residentBeforeMegabytes: resident.beforeBytes / 1e6,
      residentPeakMegabytes: resident.peakBytes / 1e6,
      residentAfterMegabytes: resident.afterBytes / 1e6,
      generatorBusyShare: closed.generatorBusyShare,
      openGeneratorBusyShare: open.generatorBusyShare,
    },
    faults: [
      ...faultsOf('service', closed),
      ...faultsOf('service, open loop', open),
      ...faultsOf('echo', echo),
      ...faultsOf('naive', naive),
      ...sample.faults,
    ],
  }
}
