/**
 * How much longer do counts take while big lists are sent?
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DriveFigures, faultsOf } from '../harness/drive.js'
import { DRIVE_HEADER, driveRow } from '../harness/drive-table.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { askBigList, JSON_PATH } from '../lists/big-list.js'
import { listFaultsOf, type ReadFigures, readLists } from '../lists/read-lists.js'
import { driveClosed, driveOpen } from './drives.js'
import type { Finding, Scenario } from './scenario.js'

export const countsBesideLists: Scenario = {
  name: 'counts-beside-lists',
  summary: 'how much longer do counts take while four big lists are sent?',
  run: async (stage) => {
    const { service, signal, options } = stage
    const list = await askBigList(service.url, stage.rows)
    const peak = await driveClosed(stage, service, stage.counts, true)
    const plan = {
      connectionCount: CONNECTION_COUNT,
      ratePerSecond: Math.ceil(RATE_SHARE * peak.perSecond),
    }
    const alone = await driveOpen(stage, service, stage.counts, plan)
    const reading = readLists(
      {
        url: service.url,
        path: JSON_PATH,
        body: list.body,
        connectionCount: LIST_COUNT,
        seconds: options.warmUpSeconds + options.measuredSeconds + SETTLE_MS / 1000,
        expected: list.json,
      },
      signal,
    )
    const besideThem = sleep(SETTLE_MS).then(() => driveOpen(stage, service, stage.counts, plan))
    const [beside, lists] = await Promise.race([
      Promise.all([besideThem, reading]),
      service.failure,
    ])
    return findingOf({ peak, alone, beside, lists })
  },
}

/** Of the rate of the closed loop: so few that they hardly wait for each other. */
const RATE_SHARE = 0.2
const CONNECTION_COUNT = 256
const LIST_COUNT = 4
/** In which the lists get under way. */
const SETTLE_MS = 500

interface Measured {
  readonly peak: DriveFigures
  readonly alone: DriveFigures
  readonly beside: DriveFigures
  readonly lists: ReadFigures
}

function findingOf({ peak, alone, beside, lists }: Measured): Finding {
  const slowdown = beside.p99Ms / alone.p99Ms
  return {
    table: {
      title:
        `counts in an open loop at ${formatCount(alone.offeredPerSecond)}/s, alone and beside ` +
        `${LIST_COUNT} big lists, which arrive at ${formatFigure(lists.megabytesPerSecond)} MB/s: ` +
        `p99 is ${formatFigure(slowdown)} times as long`,
      header: DRIVE_HEADER,
      rows: [
        driveRow('closed loop, alone', peak),
        driveRow('open loop, alone', alone),
        driveRow('open loop, beside lists', beside),
      ],
    },
    figures: {
      peakPerSecond: peak.perSecond,
      offeredPerSecond: alone.offeredPerSecond,
      aloneP50Ms: alone.p50Ms,
      aloneP99Ms: alone.p99Ms,
      besideP50Ms: beside.p50Ms,
      besideP99Ms: beside.p99Ms,
      p99SlowdownRatio: slowdown,
      listsMegabytesPerSecond: lists.megabytesPerSecond,
      besideGeneratorBusyShare: beside.generatorBusyShare,
    },
    faults: [
      ...faultsOf('closed loop', peak),
      ...faultsOf('alone', alone),
      ...faultsOf('beside lists', beside),
      ...listFaultsOf('lists', lists),
    ],
  }
}
