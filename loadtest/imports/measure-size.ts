/**
 * Everything that is measured of one number of recipients.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cliPath } from '../harness/dataset.js'
import { runScript } from '../harness/processes.js'
import { figureOf } from '../harness/results.js'
import type { Asked } from './ask.js'
import { fileBytes, flush, type Inputs, prepareInputs, warm } from './inputs.js'
import { runMeasured } from './measured-run.js'
import type { FileFormat, ImportOptions, InputFormat } from './options.js'
import { type ImportRun, type SizeResult, summarizeImport } from './results.js'
import { assertRoom, roomIn } from './room.js'
import { runService } from './service.js'
import { createTableSource, type TableSource } from './table-source.js'

/** Starts of the service that are measured. */
const START_COUNT = 3

/** @param say  is told what is being done */
export async function measureSize(
  recipientCount: number,
  options: ImportOptions,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<SizeResult> {
  const { seed, formats } = options
  assertRoom(recipientCount, formats, roomIn(tmpdir()))
  say(`making ${recipientCount} recipients, if they are not there`)
  const inputs = await prepareInputs(recipientCount, seed, formats.filter(isFile), signal)
  const data = await mkdtemp(join(tmpdir(), 'hickory-imports-'))
  let table: TableSource | undefined
  try {
    if (formats.includes('postgres')) {
      table = await createTableSource(inputs.paths.csv, signal)
      say(`the table is in ${table.version}`)
    }
    const rounds = await runRounds({ inputs, table, data, options, say, signal })
    const imports: SizeResult['imports'][number][] = []
    for (const format of formats) {
      const bytes = isFile(format) ? await fileBytes(inputs.paths[format]) : undefined
      imports.push(summarizeImport(format, bytes, rounds.runs.get(format) ?? []))
    }
    const served = join(data, 'csv')
    return {
      recipientCount,
      scanMs: figureOf(rounds.scansMs),
      imports,
      snapshotBytes: bytesBelow(join(served, 'snapshots')),
      ...(await measureService(served, say, signal)),
      ...(await ask(served, seed, data, signal)),
    }
  } finally {
    await table?.remove()
    await rm(data, { recursive: true, force: true })
    if (!options.keep) await rm(inputs.directory, { recursive: true, force: true })
  }
}

interface Round {
  readonly inputs: Inputs
  readonly table: TableSource | undefined
  readonly data: string
  readonly options: ImportOptions
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/** In each round a scan and an import of each format, so that what disturbs one disturbs all. */
async function runRounds(round: Round) {
  const { inputs, data, options, say, signal } = round
  const scansMs: number[] = []
  const runs = new Map<InputFormat, ImportRun[]>()
  for (let run = 1; run <= options.runCount; run++) {
    say(`run ${run} of ${options.runCount}`)
    await warm(inputs.paths.csv)
    const scanMs = await scan(inputs.paths.csv, data, signal)
    scansMs.push(scanMs)
    for (const format of options.formats) {
      // The CSV comes first, so that it is what the scan was followed by.
      const { wallMs, peakBytes } = await importOnce(format, round)
      runs.set(format, [...(runs.get(format) ?? []), { wallMs, peakBytes, scanMs }])
    }
  }
  return { scansMs, runs }
}

async function scan(path: string, scratch: string, signal: AbortSignal): Promise<number> {
  const resultPath = join(scratch, 'scan')
  await runScript([fileURLToPath(SCAN), path, resultPath], signal)
  return Number(readFileSync(resultPath, 'utf8'))
}

/** Into a data directory of its own; that of the CSV file stays. */
async function importOnce(format: InputFormat, { inputs, table, data, signal }: Round) {
  const directory = join(data, format)
  await rm(directory, { recursive: true, force: true })
  const input = isFile(format) ? [inputs.paths[format]] : (table?.args ?? [])
  if (isFile(format)) await warm(inputs.paths[format])
  await flush()
  const source = ['--data', directory, '--source', '1', '--label', 'Residents']
  const run = await runMeasured([cliPath, 'import', ...source, ...input], signal)
  if (format !== 'csv') await rm(directory, { recursive: true })
  return run
}

async function measureService(
  data: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Pick<SizeResult, 'startMs' | 'residentBytes'>> {
  say(`starting the service ${START_COUNT} times`)
  await warmBelow(join(data, 'snapshots'))
  const runs = []
  for (let run = 0; run < START_COUNT; run++) runs.push(await runService(data, signal))
  return {
    startMs: figureOf(runs.map(({ startMs }) => startMs)),
    residentBytes: figureOf(runs.map(({ residentBytes }) => residentBytes)),
  }
}

async function ask(
  data: string,
  seed: number,
  scratch: string,
  signal: AbortSignal,
): Promise<Asked> {
  const resultPath = join(scratch, 'asked')
  await runScript([fileURLToPath(ASK), data, `${seed}`, resultPath], signal)
  return JSON.parse(readFileSync(resultPath, 'utf8')) as Asked
}

const isFile = (format: InputFormat): format is FileFormat => format !== 'postgres'
const SCAN = new URL('scan.js', import.meta.url)
const ASK = new URL('ask.js', import.meta.url)

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function bytesBelow(directory: string): number {
  return filesBelow(directory).reduce((sum, path) => sum + statSync(path).size, 0)
}

async function warmBelow(directory: string): Promise<void> {
  for (const path of filesBelow(directory)) await warm(path)
}
