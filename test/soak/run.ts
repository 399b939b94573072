/**
 * Runs the generators, models, faults and fuzzers of the tests without end, with new seeds: `npm run test:soak -- --help`.
 *
 * One round at a time, so that a failure has one cause, and a core is left for other work where a round needs only one.
 *
 * @module
 */
import { crc32 } from 'node:zlib'
import { formatTable } from '../../loadtest/harness/table.js'
import { type Random, seededRandom } from '../support/random/world.js'
import type { Area } from './areas.js'
import { type Choice, choose, usage } from './choice.js'
import { isThere, type Need } from './needs.js'
import { type Round, runRound } from './run-round.js'

interface Tally {
  readonly area: Area
  readonly rounds: Round[]
}

interface LeftOut {
  readonly area: Area
  readonly missing: readonly Need[]
}

process.exitCode = await main()

async function main(): Promise<number> {
  let choice: Choice | string
  try {
    choice = choose(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`)
    return 2
  }
  if (typeof choice === 'string') {
    say(choice)
    return 0
  }
  const { areas, minutes, seed } = choice
  say(`seed ${seed}, ${minutes} minutes: ${areas.map(({ name }) => name).join(', ')}`)
  const leftOut = areas
    .map((area): LeftOut => ({ area, missing: area.needs.filter((need) => !isThere(need)) }))
    .filter(({ missing }) => missing.length > 0)
  const runnable = areas.filter((area) => !leftOut.some((out) => out.area === area))
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())
  const tallies = runnable.map((area): Tally => ({ area, rounds: [] }))
  await soak(tallies, { minutes, seed }, stop.signal)

  say(`\n${tableOf(tallies)}`)
  for (const { area, missing } of leftOut) {
    say(`${area.name} is left out: ${missing.join(' and ')} is missing`)
  }
  if (stop.signal.aborted) say('ended before its time')
  const failedCount = failed(tallies.flatMap(({ rounds }) => rounds)).length
  say(`${failedCount} failed, ${leftOut.length} areas left out (seed ${seed})`)
  return failedCount === 0 && leftOut.length === 0 && !stop.signal.aborted ? 0 : 1
}

/** Adds rounds to the tallies until the time is over, and each has one. */
async function soak(
  tallies: readonly Tally[],
  { minutes, seed }: { readonly minutes: number; readonly seed: number },
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + minutes * 60_000
  // Of its own for each area, so that its seeds do not depend on the others.
  const seeds = new Map<Tally, Random>(
    tallies.map((tally) => [tally, seededRandom(seed ^ crc32(tally.area.name))]),
  )
  while (!signal.aborted) {
    const [next] = [...tallies].sort(
      (one, other) => secondsOf(one.rounds) - secondsOf(other.rounds),
    )
    if (next === undefined) return
    if (next.rounds.length > 0 && performance.now() > endMs) return
    const ownSeed = seeds.get(next)?.between(0, 2 ** 31 - 1) ?? 0
    const round = await runRound(next.area, ownSeed, signal)
    // One that was ended has shown nothing.
    if (signal.aborted) return
    next.rounds.push(round)
    tell(round)
  }
}

function tell({ area, seed, seconds, summary, notes, failure }: Round): void {
  const start = `${area.name.padEnd(12)} seed ${String(seed).padEnd(10)} ${seconds.toFixed(0).padStart(5)} s`
  if (failure === undefined) {
    say([`${start}  ok      ${summary}`, ...notes].join('\n'))
    return
  }
  say(`${start}  FAILED  ${failure.what}\n${failure.tail.replace(/^/gm, '    ')}`)
  say(`  repeat it: ${failure.command}`)
}

function tableOf(tallies: readonly Tally[]): string {
  const rowOf = (name: string, rounds: readonly Round[]) => [
    name,
    String(rounds.length),
    secondsOf(rounds).toFixed(0),
    String(failed(rounds).length),
    failed(rounds)
      .map(({ seed }) => seed)
      .join(' '),
  ]
  const rows = tallies.map(({ area, rounds }) => rowOf(area.name, rounds))
  const total = rowOf(
    'total',
    tallies.flatMap(({ rounds }) => rounds),
  )
  const header = ['area', 'rounds', 'seconds', 'failed', 'seeds that failed']
  return formatTable({ title: 'soak', header, rows: [...rows, total] })
}

function secondsOf(rounds: readonly Round[]): number {
  return rounds.reduce((sum, { seconds }) => sum + seconds, 0)
}

function failed(rounds: readonly Round[]): readonly Round[] {
  return rounds.filter(({ failure }) => failure !== undefined)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
