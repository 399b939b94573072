/**
 * `npm run loadtest`: the real service under load, on loopback, beside what it is compared with.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { commitName, machineLine } from './harness/machine.js'
import {
  ECHO,
  type Figure,
  RESULTS_FORMAT,
  type Results,
  type RunOutcome,
  summarize,
} from './harness/results.js'
import {
  createServers,
  prepareStage,
  SHAPE_COUNT,
  type SharedStage,
  stageFor,
  VERIFIED_SHAPE_COUNT,
} from './harness/stage.js'
import { formatCount, formatFigure, formatTable } from './harness/table.js'
import { type LoadOptions, readOptions, usageOf } from './options.js'
import { counts } from './scenarios/counts.js'
import { countsBesideLarge } from './scenarios/counts-beside-large.js'
import { countsBesideLists } from './scenarios/counts-beside-lists.js'
import { countsByWrk } from './scenarios/counts-wrk.js'
import { guarded } from './scenarios/guarded.js'
import { lists } from './scenarios/lists.js'
import { mixed } from './scenarios/mixed.js'
import { overload } from './scenarios/overload.js'
import { overloadByWrk } from './scenarios/overload-wrk.js'
import type { Finding, Scenario } from './scenarios/scenario.js'
import { shutdown } from './scenarios/shutdown.js'
import { slowReaders } from './scenarios/slow-readers.js'
import { slowSenders } from './scenarios/slow-senders.js'
import { soak } from './scenarios/soak.js'
import { swap } from './scenarios/swap.js'
import { tls } from './scenarios/tls.js'
import { workerKills } from './scenarios/worker-kills.js'

/** The first is what runs without arguments. */
const scenarios: readonly Scenario[] = [
  mixed,
  counts,
  countsByWrk,
  guarded,
  lists,
  countsBesideLists,
  countsBesideLarge,
  overload,
  overloadByWrk,
  slowReaders,
  slowSenders,
  workerKills,
  swap,
  soak,
  shutdown,
  tls,
]

const interruption = new AbortController()
process.on('SIGINT', () => interruption.abort(new Error('interrupted')))
process.on('SIGTERM', () => interruption.abort(new Error('terminated')))

try {
  const options = readOptions(process.argv.slice(2), scenarios)
  if (options.help) print(usageOf(scenarios))
  else process.exitCode = await main(options, interruption.signal)
} catch (error) {
  process.stderr.write(`loadtest: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function main(options: LoadOptions, signal: AbortSignal): Promise<number> {
  const date = new Date().toISOString()
  print(`machine   ${machineLine()}; the generator shares it`)
  const servers = createServers(signal)
  try {
    const shared = await prepareStage(servers, options, signal)
    describe(shared)
    const outcomes = await runScenarios(shared)
    const results = toResults(date, options, outcomes)
    if (options.runCount > 1) printMedians(results)
    return conclude(results, options.jsonPath ?? defaultPath(date))
  } finally {
    // Ends what still drives a server after a failure.
    interruption.abort(new Error('the run is over'))
    await servers.stop()
  }
}

function describe({ rows, options, dataset }: SharedStage): void {
  print(
    `data      ${formatCount(rows.phones.length)} synthetic recipients of the US in ` +
      `${options.sourceCount} source(s), seed ${options.seed}, ${dataset.dataDirectory}`,
  )
  print(
    `method    ${options.connectionCount} connections, one request under way on each; ` +
      `${options.warmUpSeconds} s warm-up, ${options.measuredSeconds} s measured`,
  )
  print(
    `verified  counts and lists of ${VERIFIED_SHAPE_COUNT} of ${formatCount(SHAPE_COUNT)} shapes ` +
      'equal brute force; under load, every answer is compared with the one before it',
  )
  print()
}

async function runScenarios(shared: SharedStage): Promise<Map<string, RunOutcome[]>> {
  const { runCount, names } = shared.options
  const outcomes = new Map<string, RunOutcome[]>()
  for (let run = 1; run <= runCount; run++) {
    for (const scenario of scenarios.filter(({ name }) => names.includes(name))) {
      const finding = await runScenario(scenario, shared)
      const which = runCount === 1 ? '' : `, run ${run} of ${runCount}`
      const title = `${scenario.name}${which}: ${finding.table.title}`
      print(formatTable({ ...finding.table, title }))
      const { figures, faults } = finding
      for (const fault of faults) print(`FAULT  ${scenario.name}: ${fault}`)
      outcomes.set(scenario.name, [...(outcomes.get(scenario.name) ?? []), { figures, faults }])
    }
  }
  return outcomes
}

/** Ends what the scenario has started. If it breaks off, that is a fault, and the others go on. */
async function runScenario({ run }: Scenario, shared: SharedStage): Promise<Finding> {
  const servers = createServers(shared.signal)
  try {
    return await Promise.race([
      run(stageFor(shared, servers)),
      shared.service.failure,
      shared.echo.failure,
    ])
  } catch (error) {
    shared.signal.throwIfAborted()
    const table = { title: 'broke off', header: [], rows: [] }
    return { table, figures: {}, faults: [(error as Error).message] }
  } finally {
    await servers.stop()
  }
}

function toResults(
  date: string,
  options: LoadOptions,
  outcomes: ReadonlyMap<string, readonly RunOutcome[]>,
): Results {
  const numbers = Object.entries(options).filter(
    (option): option is [string, number] => typeof option[1] === 'number',
  )
  return {
    format: RESULTS_FORMAT,
    date,
    machine: machineLine(),
    node: process.version,
    commit: commitName() ?? null,
    echo: ECHO,
    options: Object.fromEntries(numbers),
    scenarios: Object.fromEntries([...outcomes].map(([name, runs]) => [name, summarize(runs)])),
  }
}

function printMedians({ scenarios }: Results): void {
  const rows = Object.entries(scenarios).flatMap(([scenario, { figures }]) =>
    Object.entries(figures).map(([name, figure]) => medianRow(`${scenario} ${name}`, figure)),
  )
  print(formatTable({ title: 'medians', header: ['figure', 'median', 'min', 'max'], rows }))
}

function medianRow(name: string, { median, min, max }: Figure): string[] {
  return [name, ...[median, min, max].map(formatFigure)]
}

/** Outside of the source, with the data. */
function defaultPath(date: string): string {
  const name = `${date.replaceAll(/[:.]/g, '-')}.json`
  return join(tmpdir(), 'hickory-loadtest', 'results', name)
}

function conclude(results: Results, path: string): number {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(results, undefined, 2)}\n`)
  const faultCount = Object.values(results.scenarios).flatMap(({ faults }) => faults).length
  print(faultCount === 0 ? 'ok: nothing failed' : `${faultCount} faults`)
  print(`results are in ${path}`)
  return faultCount === 0 ? 0 : 1
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
