/**
 * `npm run bench`: the inner loops, one question each, in one thread of one process. The options
 * are in options.ts.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { machineLine } from '../harness/machine.js'
import { formatCount, formatTable } from '../harness/table.js'
import { clusteredOrder, importOrder, Postgis } from '../peers/postgis.js'
import { boundary } from './boundary.js'
import { changes } from './changes.js'
import { circles } from './circles.js'
import { contacts } from './contacts.js'
import { corridors } from './corridors.js'
import { counties } from './counties.js'
import { country } from './country.js'
import { distinct } from './distinct.js'
import { drawn } from './drawn.js'
import { encode } from './encode.js'
import { front } from './front.js'
import { measureGrowth } from './growth.js'
import type { Finding } from './harness/compare.js'
import { baselinePlan, fullPlan, sinkTotal } from './harness/measure.js'
import { buildNaiveIndex, type NaiveIndex } from './harness/naive.js'
import { type BenchOptions, readOptions, usageOf } from './harness/options.js'
import type { Database, Question, Stage } from './harness/stage.js'
import { buildWorld, type World } from './harness/world.js'
import { journal } from './journal.js'
import { keys } from './keys.js'
import { live } from './live.js'
import { marks } from './marks.js'
import { modes } from './modes.js'
import { named } from './named.js'
import { states } from './states.js'
import { worst } from './worst.js'

const questions: Readonly<Record<string, Question>> = {
  drawn,
  counties,
  states,
  country,
  circles,
  corridors,
  modes,
  contacts,
  marks,
  boundary,
  named,
  distinct,
  worst,
  encode,
  front,
  keys,
  journal,
  changes,
  live,
}

try {
  await main()
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), Object.keys(questions))
  if (options.help) print(usageOf(Object.keys(questions)))
  else if (options.growth) await runGrowth(options, options.growth)
  else await runQuestions(options)
}

async function runQuestions(options: BenchOptions): Promise<void> {
  const startedMs = performance.now()
  print(`machine  ${machineLine()}`)
  const world = buildWorld(options.recipientCount, options.seed)
  print(
    `data     ${formatCount(world.columns.recipientCount)} synthetic recipients of the US, ` +
      `seed ${world.seed}, ${world.shards.length} shard(s), one thread, ` +
      `built in ${secondsSince(startedMs)} s`,
  )
  const database =
    process.env.PGHOST === undefined ? undefined : await load(world, options.isClustered)
  print(
    'method   every way counts every shape, and the counts are compared; then ' +
      `${fullPlan.warmUpCount} passes of warm-up (${baselinePlan.warmUpCount} of the baselines) ` +
      'and those that are timed',
  )
  print()
  const findings: Record<string, readonly Finding[]> = {}
  try {
    const stage: Stage = { world, naiveIndex: once(() => buildNaiveIndex(world.columns)), database }
    for (const [name, question] of Object.entries(questions)) {
      if (options.only !== undefined && options.only !== name) continue
      findings[name] = await ask(question, stage)
    }
  } finally {
    await database?.postgis.close()
  }
  save(options, findings)
  print(`sink ${sinkTotal()}, ${secondsSince(startedMs)} s in all`)
}

async function ask(question: Question, stage: Stage): Promise<readonly Finding[]> {
  const findings = await question(stage)
  for (const { table, notes } of findings) {
    print(formatTable(table))
    for (const note of notes) print(`  note: ${note}\n`)
  }
  return findings
}

async function load(world: World, isClustered: boolean): Promise<Database> {
  const postgis = await Postgis.connect()
  const positions = isClustered ? clusteredOrder(world.shards) : importOrder(world.columns)
  const table = await postgis.load(positions)
  const loaded =
    table.loadedMs === undefined
      ? 'recipients loaded by a run before'
      : `recipients loaded in ${(table.loadedMs / 1000).toFixed(0)} s`
  const order = isClustered ? 'clustered' : 'in the order of the import'
  print(`postgis  ${postgis.version}, one connection, rows ${order}, ${loaded}`)
  return { postgis, table }
}

async function runGrowth(options: BenchOptions, counts: readonly number[]): Promise<void> {
  const startedMs = performance.now()
  print(`machine  ${machineLine()}`)
  print(`data     synthetic recipients of the US, seed ${options.seed}, a process for each number`)
  print()
  const finding = await measureGrowth(counts, options.seed)
  print(formatTable(finding.table))
  for (const note of finding.notes) print(note)
  save(options, { growth: [finding] })
  print(`${secondsSince(startedMs)} s in all`)
}

function save(
  { jsonPath, recipientCount, seed }: BenchOptions,
  findings: Readonly<Record<string, readonly Finding[]>>,
): void {
  if (jsonPath === undefined) return
  const result = {
    date: new Date().toISOString(),
    machine: machineLine(),
    recipientCount,
    seed,
    findings,
  }
  writeFileSync(jsonPath, `${JSON.stringify(result, undefined, 2)}\n`)
  print(`results are in ${jsonPath}`)
}

function once(build: () => NaiveIndex): () => NaiveIndex {
  let built: NaiveIndex | undefined
  return () => {
    built ??= build()
    return built
  }
}

function secondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1000).toFixed(0)
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
