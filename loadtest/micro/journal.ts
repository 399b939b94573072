/**
 * How many changes a second does the journal take, with every group on disk? Compared with a file to which
 * the same bytes are appended and synced in the same groups.
 *
 * @module
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../src/changes/change.js'
import { identityOf } from '../../src/changes/change.js'
import { type PreparedBatch, prepareBatch } from '../../src/journal/batch.js'
import { JournalReader } from '../../src/journal/reader.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding } from './harness/compare.js'
import type { Timing } from './harness/measure.js'
import type { Question, Stage } from './harness/stage.js'

/** Batches in a group, and changes in a batch. */
const SHAPES: readonly [batchCount: number, changeCount: number][] = [
  [1, 1],
  [1, 100],
  [16, 10],
  [128, 10],
  [16, 1_000],
]

const TURN_COUNT = 120
const WARM_UP_COUNT = 10

export const journal: Question = async (stage) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-bench-journal-'))
  try {
    const findings: Finding[] = []
    for (const [batchCount, changeCount] of SHAPES) {
      const place = join(directory, `${batchCount}x${changeCount}`)
      findings.push(await compareGroups(stage, place, batchCount, changeCount))
    }
    findings.push(await latencies(stage, join(directory, 'latency')))
    return findings
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function compareGroups(
  stage: Stage,
  directory: string,
  batchCount: number,
  changeCount: number,
): Promise<Finding> {
  const writer = new JournalWriter({ directory })
  writer.prepare()
  const file = openSync(`${directory}.plain`, 'w')
  let group = 0
  let plainBytes = 0
  let groupBytes = 0
  const changes = changesOf(stage, batchCount * changeCount)
  const preparedGroup = () => {
    const id = group++
    return Array.from({ length: batchCount }, (_, at) =>
      prepareBatch({
        sourceId: 1,
        batchId: `batch ${id}-${at}`,
        changes: changes.slice(at * changeCount, (at + 1) * changeCount),
      }),
    )
  }
  const endOf = () => {
    const reader = new JournalReader(directory)
    const { bytes } = reader.head()
    reader.close()
    return bytes
  }
  writer.append(preparedGroup())
  groupBytes = endOf()
  const bytes = Buffer.alloc(groupBytes, 0x5a)
  let next: PreparedBatch[] = []
  const ways: readonly { name: string; before?: () => void; once: () => void; ms: number[] }[] = [
    {
      name: 'plain file',
      once: () => {
        writeSync(file, bytes, 0, bytes.length, plainBytes)
        plainBytes += bytes.length
        fdatasyncSync(file)
      },
      ms: [],
    },
    {
      name: 'journal',
      before: () => {
        next = preparedGroup()
      },
      once: () => writer.append(next),
      ms: [],
    },
    {
      name: 'journal, with the encoding',
      once: () => writer.append(preparedGroup()),
      ms: [],
    },
  ]
  for (let turn = 0; turn < WARM_UP_COUNT + TURN_COUNT; turn++) {
    for (let at = 0; at < ways.length; at++) {
      // None of them is always behind the same other one.
      const { before, once, ms } = ways[(at + turn) % ways.length]
      before?.()
      const startedMs = performance.now()
      once()
      if (turn >= WARM_UP_COUNT) ms.push(performance.now() - startedMs)
    }
  }
  closeSync(file)
  await writer.release()
  const title = `${batchCount} batches of ${changeCount} changes in a group of ${formatCount(groupBytes)} bytes`
  const rows = ways.map(({ name, ms }) => ({ name, meanMs: mean(ms), timing: timingOf(ms) }))
  const perSecond = (count: number, ms: number) => formatCount((1_000 * count) / ms)
  return {
    table: {
      title: `the journal: ${title}, ${TURN_COUNT} groups each, in turn`,
      header: [
        'ms a group',
        ...['min', 'p10', 'median', 'p90', 'mean', 'batches/s', 'changes/s'],
        ...['rate, by median', 'by mean'],
      ],
      rows: rows.map(({ name, meanMs, timing }) => [
        name,
        ...[timing.minMs, timing.p10Ms, timing.medianMs, timing.p90Ms, meanMs].map(formatFigure),
        perSecond(batchCount, meanMs),
        perSecond(batchCount * changeCount, meanMs),
        `${(rows[0].timing.medianMs / timing.medianMs).toFixed(2)}×`,
        `${(rows[0].meanMs / meanMs).toFixed(2)}×`,
      ]),
    },
    ways: rows.map(({ name, timing }) => ({ name: `${title}: ${name}`, itemCount: 1, timing })),
    notes: [`seed ${stage.world.seed}; each group is synced; rates are those of the plain file`],
  }
}

/** From the end of `append` to the reader that has the batch, in the same process. */
async function latencies(stage: Stage, directory: string): Promise<Finding> {
  const writer = new JournalWriter({ directory })
  writer.prepare()
  const reader = new JournalReader(directory)
  const stop = new AbortController()
  const ms: number[] = []
  let writtenMs = 0
  const following = (async () => {
    for await (const _ of reader.follow(0, stop.signal)) ms.push(performance.now() - writtenMs)
  })().catch(() => {})
  const changes = changesOf(stage, 10)
  for (let at = 0; at < 200; at++) {
    const prepared = prepareBatch({ sourceId: 1, batchId: `batch ${at}`, changes })
    writer.append([prepared])
    writtenMs = performance.now()
    while (ms.length <= at) await sleep(1)
  }
  const heads = timesOf(2_000, () => reader.head())
  const cpu = await idleCpuPercent()
  stop.abort()
  await following
  reader.close()
  await writer.release()
  const rows: readonly [string, Timing][] = [
    ['from append to follow', timingOf(ms)],
    ['head()', timingOf(heads)],
  ]
  return {
    table: {
      title: 'who follows the journal, ms',
      header: ['', 'min', 'median', 'p90'],
      rows: rows.map(([name, { minMs, medianMs, p90Ms }]) => [
        name,
        ...[minMs, medianMs, p90Ms].map(formatFigure),
      ]),
    },
    ways: rows.map(([name, timing]) => ({ name, itemCount: 1, timing })),
    notes: [`whoever follows and hears nothing takes ${cpu.toFixed(2)} % of a core`],
  }
}

async function idleCpuPercent(): Promise<number> {
  const before = process.cpuUsage()
  await sleep(2_000)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 2_000 / 10
}

function timesOf(count: number, work: () => unknown): number[] {
  return Array.from({ length: count }, () => {
    const startedMs = performance.now()
    work()
    return performance.now() - startedMs
  })
}

/** Upserts of recipients of the stage. */
function changesOf({ world: { columns } }: Stage, count: number): Change[] {
  const recipientCount = columns.recipientCount
  return Array.from({ length: count }, (_, at) => {
    const index = at % recipientCount
    const phone = `+999${String(1_000_000 + index)}`
    const contact = `c${index}`
    const [lng, lat] = [columns.lngs[index], columns.lats[index]]
    const identity = identityOf(phone, contact)
    return { op: 'upsert', identity, phone, lng, lat, contact, key: undefined }
  })
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function timingOf(values: readonly number[]): Timing {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]
  return {
    repetitionCount: sorted.length,
    minMs: sorted[0],
    medianMs: at(0.5),
    p10Ms: at(0.1),
    p90Ms: at(0.9),
  }
}
