/**
 * How fast does a list of 700,000 recipients arrive, and what do twenty at once cost?
 *
 * @module
 */
import { ask } from '../harness/answers.js'
import type { ServerProcess } from '../harness/processes.js'
import { describeResident, type Resident, watchResident } from '../harness/resident.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { askBigList, type BigList, CSV_PATH, JSON_PATH } from '../lists/big-list.js'
import { type Digest, digestOf } from '../lists/digest.js'
import { listFaultsOf, type ReadFigures, readLists } from '../lists/read-lists.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const lists: Scenario = {
  name: 'lists',
  summary: 'how fast does a list of 700,000 recipients arrive, and what do 20 at once cost?',
  run: async (stage) => {
    // Of its own, so that what scenarios before took does not hide what lists take.
    const service = await stage.startService()
    const list = await askBigList(service.url, stage.rows)
    const { result: atOnce, resident } = await watchResident(service, () =>
      read(stage, service, list, { connectionCount: AT_ONCE_COUNT, seconds: 0 }),
    )
    const json = await readAlone(stage, service, list, JSON_PATH, list.json)
    const csv = await readAlone(stage, service, list, CSV_PATH, list.csv)
    const naive = await readNaive(stage, list)
    const buffer = await stage.startPeer('ready-buffer', ['--bytes', `${list.json.byteCount}`])
    const readyBuffer = await readAlone(stage, buffer, list, JSON_PATH, undefined)
    return findingOf(list, { json, csv, atOnce, naive, readyBuffer }, resident)
  },
}

const AT_ONCE_COUNT = 20

interface Readings {
  readonly json: ReadFigures
  readonly csv: ReadFigures
  readonly atOnce: ReadFigures
  readonly naive: ReadFigures
  readonly readyBuffer: ReadFigures
}

/** One list after the other, some before the clock starts. */
async function readAlone(
  stage: Stage,
  server: ServerProcess,
  list: BigList,
  path: string,
  expected: Digest | undefined,
): Promise<ReadFigures> {
  const { warmUpSeconds, measuredSeconds } = stage.options
  const how = { connectionCount: 1, path, expected }
  await read(stage, server, list, { ...how, seconds: warmUpSeconds })
  return read(stage, server, list, { ...how, seconds: measuredSeconds })
}

function read(
  { signal }: Stage,
  { url, failure }: ServerProcess,
  { body, json }: BigList,
  how: { connectionCount: number; seconds: number; path?: string; expected?: Digest | undefined },
): Promise<ReadFigures> {
  const plan = { url, body, path: JSON_PATH, expected: json, ...how }
  return Promise.race([readLists(plan, signal), failure])
}

/** Its list has an order of its own, so it is compared with the list of the service once. */
async function readNaive(stage: Stage, list: BigList): Promise<ReadFigures> {
  const naive = await stage.startPeer('naive')
  const answer = await ask(naive.url, list.body)
  if (!list.isSame(answer)) throw new Error('the naive server lists other recipients')
  return readAlone(stage, naive, list, JSON_PATH, digestOf(answer))
}

function findingOf(list: BigList, readings: Readings, resident: Resident): Finding {
  const { json, csv, atOnce, naive, readyBuffer } = readings
  const growthBytes = resident.peakBytes - resident.beforeBytes
  const row = (name: string, figures: ReadFigures) => [
    name,
    formatFigure(figures.megabytesPerSecond),
    formatCount(figures.listCount),
    formatCount(figures.wrongCount),
    formatFigure(figures.megabytesPerSecond / readyBuffer.megabytesPerSecond),
    formatFigure(figures.megabytesPerSecond / naive.megabytesPerSecond),
  ]
  return {
    table: {
      title:
        `a list of ${formatCount(list.recipientCount)} recipients, ` +
        `${formatCount(list.json.byteCount / 1e6)} MB as JSON; service with ${AT_ONCE_COUNT} at ` +
        `once ${describeResident(resident)}`,
      header: ['', 'MB/s', 'lists', 'wrong', 'to ready buffer', 'times naive'],
      rows: [
        row('service, JSON', json),
        row('service, CSV', csv),
        row(`service, JSON, ${AT_ONCE_COUNT} at once`, atOnce),
        row('naive', naive),
        row('ready buffer', readyBuffer),
      ],
    },
    figures: {
      recipientCount: list.recipientCount,
      jsonMegabytesPerSecond: json.megabytesPerSecond,
      csvMegabytesPerSecond: csv.megabytesPerSecond,
      atOnceMegabytesPerSecond: atOnce.megabytesPerSecond,
      naiveMegabytesPerSecond: naive.megabytesPerSecond,
      readyBufferMegabytesPerSecond: readyBuffer.megabytesPerSecond,
      ratioToReadyBuffer: json.megabytesPerSecond / readyBuffer.megabytesPerSecond,
      timesNaive: json.megabytesPerSecond / naive.megabytesPerSecond,
      atOnceGrowthMegabytes: growthBytes / 1e6,
    },
    faults: [
      ...listFaultsOf('service, JSON', json),
      ...listFaultsOf('service, CSV', csv),
      ...listFaultsOf('service, at once', atOnce),
      ...listFaultsOf('naive', naive),
      ...listFaultsOf('ready buffer', readyBuffer),
    ],
  }
}
