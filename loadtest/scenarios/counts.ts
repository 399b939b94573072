/**
 * How many counts of a drawn polygon does the service answer in a second?
 *
 * @module
 */
import { faultsOf } from '../harness/drive.js'
import { PROCESSOR_HEADER, processorCells, processorFigures } from '../harness/processor-table.js'
import { describeResident, watchResident } from '../harness/resident.js'
import { BASELINE_HEADER, baselineRow, driveBaselines, ratioOf } from './against-baselines.js'
import { driveClosed } from './drives.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const counts: Scenario = {
  name: 'counts',
  summary: 'how many counts of a drawn polygon does the service answer in a second?',
  run: async (stage: Stage): Promise<Finding> => {
    const measured = await watchResident(stage.service, () =>
      driveClosed(stage, stage.service, stage.counts, true),
    )
    const { result: service, resident } = measured
    const baselines = await driveBaselines(stage, stage.counts)
    const { echo, naive } = baselines
    return {
      table: {
        title: `counts of drawn polygons, closed loop; service ${describeResident(resident)}`,
        header: [...BASELINE_HEADER, ...PROCESSOR_HEADER],
        rows: [
          [...baselineRow('service', service, baselines), ...processorCells(service.processor)],
          [...baselineRow('echo', echo, baselines), ...processorCells(echo.processor)],
          [...baselineRow('naive', naive, baselines), ...processorCells(naive.processor)],
        ],
      },
      figures: {
        countsPerSecond: service.perSecond,
        ratioToEcho: ratioOf(service, echo),
        timesNaive: ratioOf(service, naive),
        p50Ms: service.p50Ms,
        p99Ms: service.p99Ms,
        p999Ms: service.p999Ms,
        echoPerSecond: echo.perSecond,
        naivePerSecond: naive.perSecond,
        residentPeakMegabytes: resident.peakBytes / 1e6,
        generatorBusyShare: service.generatorBusyShare,
        ...processorFigures(service.processor, echo.processor),
      },
      faults: [
        ...faultsOf('service', service),
        ...faultsOf('echo', echo),
        ...faultsOf('naive', naive),
      ],
    }
  },
}
