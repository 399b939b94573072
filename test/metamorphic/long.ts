/**
 * Asks a million requests for shapes and for what must select the same, in several processes at a
 * time:
 *
 *   node dist/test/metamorphic/long.js [--requests N] [--seed S] [--processes N] [--world W]
 *
 * A failure prints the number of its world; `--seed S --world W` repeats that world alone. Nothing
 * that is printed is of anybody: worlds are made up.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../support/read-options.js'
import type { Question } from './compare.js'
import { type Finding, noTotals, runWorld, type Total, type Totals } from './run-world.js'

const PROGRESS_MS = 5_000
const WORLDS_PER_REPORT = 10

interface Share {
  readonly seed: number
  readonly requestCount: number
  /** The first world, and how many there are from one to the next; null for the first alone. */
  readonly world: number
  readonly step: number | null
}

interface Report {
  readonly totals: Totals
  readonly findings: readonly Finding[]
}

if (process.send === undefined) process.exitCode = await main()
else process.once('message', (share) => run(share as Share))

async function main(): Promise<number> {
  const values = readOptions('npm run test:metamorphic --', {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    processes: { type: 'string', default: '2' },
    world: { type: 'string' },
  })
  const seed = Number(values.seed)
  const processCount = values.world === undefined ? Number(values.processes) : 1
  const requestCount = Math.ceil(Number(values.requests) / processCount)
  const step = values.world === undefined ? processCount : null
  say(`seed ${seed}`)
  const startedMs = performance.now()
  const seconds = () => ((performance.now() - startedMs) / 1000).toFixed(0)
  const reports: Totals[] = Array.from({ length: processCount }, noTotals)
  const smallest = new Map<Question, Finding>()
  const progress = setInterval(() => say(`${seconds()} s: ${summary(reports)}`), PROGRESS_MS)
  const codes = await Promise.all(
    reports.map((_, at) => {
      const share = { seed, requestCount, world: Number(values.world ?? 0) + at, step }
      return runShare(share, ({ totals, findings }) => {
        reports[at] = totals
        for (const finding of findings) keepSmaller(smallest, finding)
      })
    }),
  )
  clearInterval(progress)
  printTable(reports)
  for (const finding of smallest.values()) say(JSON.stringify(finding))
  say(`${summary(reports)} (seed ${seed}, ${seconds()} s)`)
  return codes.every((code) => code === 0) && wrongCount(reports) === 0 ? 0 : 1
}

function keepSmaller(smallest: Map<Question, Finding>, finding: Finding): void {
  const known = smallest.get(finding.question)
  const size = (each: Finding) => JSON.stringify([each.shape, each.transformed]).length
  // A wrong answer tells more than a refusal.
  const rank = (each: Finding) => size(each) + (each.recipientCount === 0 ? 1e9 : 0)
  if (known === undefined || rank(finding) < rank(known)) smallest.set(finding.question, finding)
}

function runShare(share: Share, onReport: (report: Report) => void): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url))
  child.on('message', (report) => onReport(report as Report))
  child.send(share)
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/** In a process of its own; reports after every few worlds. */
function run({ seed, requestCount, world, step }: Share): void {
  const totals = noTotals()
  let findings: Finding[] = []
  const report = (then = () => {}) => {
    process.send?.({ totals, findings } satisfies Report, then)
    findings = []
  }
  for (let at = world, ranCount = 0; sum([totals], 'askedCount') < requestCount; at += step ?? 1) {
    findings.push(...runWorld(seed, at, totals))
    if (step === null) break
    if (++ranCount % WORLDS_PER_REPORT === 0) report()
  }
  report(() => process.disconnect())
}

function printTable(reports: readonly Totals[]): void {
  for (const question of Object.keys(reports[0]) as Question[]) {
    const count = (name: keyof Total) =>
      reports.reduce((all, each) => all + each[question][name], 0)
    say(
      `${question.padEnd(16)} ${count('askedCount')} asked, ${count('differentCount')} different, ` +
        `${count('refusedCount')} refused, ${count('passedOverCount')} passed over`,
    )
  }
}

function summary(reports: readonly Totals[]): string {
  return `${sum(reports, 'askedCount')} requests, ${wrongCount(reports)} wrong`
}

function wrongCount(reports: readonly Totals[]): number {
  return sum(reports, 'differentCount') + sum(reports, 'refusedCount')
}

function sum(reports: readonly Totals[], name: keyof Total): number {
  return reports.reduce(
    (all, totals) => Object.values(totals).reduce((some, total) => some + total[name], all),
    0,
  )
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
