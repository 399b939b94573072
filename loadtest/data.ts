/**
 * `npm run loadtest:data`: requests with their known answers as files, for generators that are not
 * of this repository.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readRows } from '../test/oracle/counties.js'
import { type KnownRequest, waitUntilReady } from './harness/answers.js'
import { cliPath, type Dataset, type DatasetOptions, prepareDataset } from './harness/dataset.js'
import { integerOption } from './harness/integer-option.js'
import { parseOptions } from './harness/parse-options.js'
import { startServer } from './harness/processes.js'
import { askAndVerify, SHAPE_COUNT, VERIFIED_SHAPE_COUNT } from './harness/stage.js'
import { COUNTS_FILE, type KnownList, LISTS_FILE } from './k6/scenario-data.js'
import { drawnPolygons } from './requests/drawn.js'

const OPTIONS = {
  out: { type: 'string' },
  recipients: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean', default: false },
} as const

const USAGE = `npm run loadtest:data -- --out DIR [options]
  --out DIR         where to write
  --recipients N    recipients to ask about, 1000 or more (1000000)
  --seed S          of recipients and shapes (1)
  --help            prints this
`

const interruption = new AbortController()
process.on('SIGINT', () => interruption.abort(new Error('interrupted')))
process.on('SIGTERM', () => interruption.abort(new Error('terminated')))

try {
  await main(interruption.signal)
} catch (error) {
  process.stderr.write(`loadtest:data: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function main(signal: AbortSignal): Promise<void> {
  const values = parseOptions(process.argv.slice(2), OPTIONS, USAGE)
  if (values.help) {
    print(USAGE)
    return
  }
  if (values.out === undefined) throw new Error(`--out DIR is where to write\n${USAGE}`)
  const directory = resolve(values.out)
  const recipientCount = integer('recipients', values.recipients, 1_000, 200_000_000)
  const seed = integer('seed', values.seed, 0, 2 ** 32 - 1)
  const options = { recipientCount, seed, sourceCount: 1, fresh: false }
  const dataset = await prepareDataset(options, signal)
  const { counts, lists } = await askForAnswers(dataset, options, signal)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, COUNTS_FILE), JSON.stringify(counts))
  await writeFile(join(directory, LISTS_FILE), JSON.stringify(lists.map(withDigest)))
  print(`${counts.length} counts and ${lists.length} lists are in ${directory}. Serve them with:`)
  print(`node ${cliPath} serve --data ${dataset.dataDirectory}`)
}

function integer(name: string, text: string, min: number, max: number): number {
  return integerOption(name, text, min, max, USAGE)
}

async function askForAnswers(dataset: Dataset, options: DatasetOptions, signal: AbortSignal) {
  const serve = [cliPath, 'serve', '--data', dataset.dataDirectory, '--port', '0']
  const service = await startServer('service', serve, signal)
  try {
    await waitUntilReady(service.url, signal)
    const rows = await readRows([dataset.csvPath])
    const shapes = drawnPolygons(rows, SHAPE_COUNT, options.seed)
    return await askAndVerify(service, rows, shapes, VERIFIED_SHAPE_COUNT, signal)
  } finally {
    await service.stop()
  }
}

function withDigest({ body, answer }: KnownRequest): KnownList {
  const answerSha256 = createHash('sha256').update(answer).digest('hex')
  return { body, answerBytes: Buffer.byteLength(answer), answerSha256 }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
