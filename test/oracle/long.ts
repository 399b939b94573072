/**
 * Holds a hundred thousand random requests against the oracle, in several processes at a time:
 *
 *   node dist/test/oracle/long.js [--requests N] [--seed S] [--kinds a,b] [--processes N]
 *
 * A failure prints its seed and the number of its world; `--seed S --world W` repeats that world
 * alone. Nothing that is printed is of anybody: worlds are made up, phones begin with +999.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import {
  compareWorld,
  noTotals,
  REQUESTS_PER_WORLD,
  type RunTotals,
  type WrongAnswer,
} from '../support/oracle-run.js'
import { kindsOfWorld, type RequestKind, requestKinds } from '../support/random/requests.js'
import { readOptions } from '../support/read-options.js'

const PROGRESS_MS = 5_000
const WRONG_COUNT_MAX = 20

interface Share {
  readonly seed: number
  readonly kinds: readonly RequestKind[]
  /** Whether most worlds are spared the kinds that brute force is slow at. */
  readonly isMixed: boolean
  /** Worlds from the first to before the last, every so many of them. */
  readonly firstWorld: number
  readonly endWorld: number
  readonly step: number
}

interface Report {
  readonly totals: RunTotals
  readonly wrong: readonly WrongAnswer[]
}

if (process.send === undefined) process.exitCode = await main()
else process.once('message', (share) => void run(share as Share))

async function main(): Promise<number> {
  const values = readOptions('npm run test:long --', {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    world: { type: 'string' },
    kinds: { type: 'string', default: '' },
    processes: { type: 'string', default: '2' },
  })
  const kinds = readKinds(values.kinds)
  const isMixed = values.kinds === ''
  const seed = Number(values.seed)
  const firstWorld = Number(values.world ?? 0)
  const worldCount = Math.ceil(Number(values.requests) / (0.98 * REQUESTS_PER_WORLD))
  const endWorld = values.world === undefined ? worldCount : firstWorld + 1
  const step = values.world === undefined ? Number(values.processes) : 1
  say(`seed ${seed}, ${endWorld - firstWorld} worlds, kinds ${kinds.join()}`)
  const startedMs = performance.now()
  const seconds = () => ((performance.now() - startedMs) / 1000).toFixed(0)
  const reports: RunTotals[] = Array.from({ length: step }, noTotals)
  const progress = setInterval(() => say(`${seconds()} s: ${summary(reports)}`), PROGRESS_MS)
  const codes = await Promise.all(
    reports.map((_, at) =>
      runShare({ seed, kinds, isMixed, firstWorld: firstWorld + at, endWorld, step }, (report) => {
        reports[at] = report.totals
        for (const wrong of report.wrong) say(JSON.stringify(wrong))
      }),
    ),
  )
  clearInterval(progress)
  say(`${summary(reports)} (seed ${seed}, ${seconds()} s)`)
  return codes.every((code) => code === 0) && add(reports, 'wrongCount') === 0 ? 0 : 1
}

function readKinds(text: string): RequestKind[] {
  const allKinds: RequestKind[] = [...requestKinds, 'clip']
  if (text === '' || text === 'all') return allKinds
  const unknown = text.split(',').filter((kind) => !allKinds.some((known) => known === kind))
  if (unknown.length > 0) throw new Error(`no such kinds: ${unknown.join()}`)
  return text.split(',') as RequestKind[]
}

function runShare(share: Share, onReport: (report: Report) => void): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url))
  child.on('message', (report) => onReport(report as Report))
  child.send(share)
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/** In a process of its own; reports after each world. */
async function run({ seed, kinds, isMixed, firstWorld, endWorld, step }: Share): Promise<void> {
  const totals = noTotals()
  for (let world = firstWorld; world < endWorld; world += step) {
    const mix = isMixed ? kindsOfWorld(world) : kinds
    const wrong = await compareWorld(seed, world, mix, totals)
    process.send?.({ totals, wrong } satisfies Report)
    if (totals.wrongCount >= WRONG_COUNT_MAX) break
  }
  process.disconnect()
}

function summary(reports: readonly RunTotals[]): string {
  return (
    `${add(reports, 'requestCount')} requests (${add(reports, 'refusedCount')} of them refused, ` +
    `${add(reports, 'tooComplexCount')} more too complex), ` +
    `${add(reports, 'recipientCount')} recipients compared, ` +
    `${add(reports, 'insideCount')} inside, ${add(reports, 'eitherCount')} either, ` +
    `${add(reports, 'wrongCount')} wrong`
  )
}

function add(reports: readonly RunTotals[], name: keyof RunTotals): number {
  return reports.reduce((sum, totals) => sum + totals[name], 0)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
