/**
 * `npm run loadtest`: the real service under load, on loopback, beside an echo server.
 *
 * @module
 */
import { fileURLToPath } from 'node:url'
import { readRows } from '../test/oracle/counties.js'
import { askAll, verifyAnswers, waitUntilReady } from './answers.js'
import { cliPath, type Dataset, prepareDataset } from './dataset.js'
import { drawnPolygons } from './drawn.js'
import { machineLine } from './machine.js'
import { type LoadOptions, readOptions } from './options.js'
import { type ServerProcess, startServer } from './processes.js'
import { counts } from './scenarios/counts.js'
import { countsAndLists } from './scenarios/counts-and-lists.js'
import type { Scenario, Stage } from './scenarios/scenario.js'
import { shutdown } from './scenarios/shutdown.js'
import { slowReaders } from './scenarios/slow-readers.js'
import { slowSenders } from './scenarios/slow-senders.js'
import { soak } from './scenarios/soak.js'
import { swap } from './scenarios/swap.js'
import { workerKills } from './scenarios/worker-kills.js'
import { formatCount, formatTable } from './table.js'

const scenarios: readonly Scenario[] = [
  counts,
  countsAndLists,
  slowReaders,
  slowSenders,
  workerKills,
  swap,
  soak,
  shutdown,
]

/** Shapes that are counted, and how many of these are listed as well and verified. */
const SHAPE_COUNT = 2_048
const VERIFIED_SHAPE_COUNT = 128

const interruption = new AbortController()
process.on('SIGINT', () => interruption.abort(new Error('interrupted')))
process.on('SIGTERM', () => interruption.abort(new Error('terminated')))

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)), interruption.signal)
} catch (error) {
  process.stderr.write(`loadtest: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function main(options: LoadOptions, signal: AbortSignal): Promise<number> {
  const chosen = scenarios.filter(({ name }) => options.only === undefined || options.only === name)
  if (chosen.length === 0) {
    throw new Error(`--only is one of ${scenarios.map(({ name }) => name).join(', ')}`)
  }
  print(`machine   ${machineLine()}; the generator shares it`)
  const dataset = await prepareDataset(options, signal)
  const servers: ServerProcess[] = []
  try {
    const started = async (name: string, ...args: string[]) => {
      const server = await startServer(name, args, signal)
      servers.push(server)
      return server
    }
    const echoPath = fileURLToPath(new URL('peers/echo.js', import.meta.url))
    const echo = await started('echo', echoPath)
    const data = ['--data', dataset.dataDirectory]
    const service = await started('service', cliPath, 'serve', ...data, '--port', '0')
    const startService: Stage['startService'] = async (flags = [], directory) => {
      const on = ['--data', directory ?? dataset.dataDirectory, '--port', '0']
      const other = await started('another service', cliPath, 'serve', ...on, ...flags)
      await waitUntilReady(other.url, signal)
      return other
    }
    const startPeer: Stage['startPeer'] = (name, args = []) =>
      started(name, fileURLToPath(new URL(`peers/${name}.js`, import.meta.url)), ...args)
    const prepared = await prepareStage(dataset, service, echo, options, signal)
    const stage: Stage = { ...prepared, startService, startPeer }
    return await runScenarios(chosen, stage)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

async function prepareStage(
  dataset: Dataset,
  service: ServerProcess,
  echo: ServerProcess,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<Omit<Stage, 'startService' | 'startPeer'>> {
  await waitUntilReady(service.url, signal)
  const rows = await readRows([dataset.csvPath])
  const shapes = drawnPolygons(rows, SHAPE_COUNT, options.seed)
  const verified = shapes.slice(0, VERIFIED_SHAPE_COUNT)
  const counts = await askAll(service.url, shapes, true, signal)
  const lists = await askAll(service.url, verified, false, signal)
  await verifyAnswers(rows, verified, counts, lists)
  print(
    `data      ${formatCount(rows.numbers.length)} synthetic recipients of the US, ` +
      `seed ${options.seed}, ${dataset.dataDirectory}`,
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
  return { service, echo, counts, lists, options, signal, dataset, rows }
}

async function runScenarios(chosen: readonly Scenario[], stage: Stage): Promise<number> {
  const faults: string[] = []
  for (const { run } of chosen) {
    const finding = await run(stage)
    print(formatTable(finding.table))
    faults.push(...finding.faults)
  }
  for (const fault of faults) print(`FAULT  ${fault}`)
  print(faults.length === 0 ? 'ok: nothing failed' : `${faults.length} faults`)
  return faults.length === 0 ? 0 : 1
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
