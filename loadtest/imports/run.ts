/**
 * `npm run bench:import`: how long imports take beside a mere scan of the same rows, and what a
 * service is like on what they publish.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { commitName, machineLine } from '../harness/machine.js'
import { formatTable } from '../harness/table.js'
import { measureSize } from './measure-size.js'
import { type ImportOptions, readOptions, USAGE } from './options.js'
import { plotScale } from './plot.js'
import {
  IMPORT_RESULTS_FORMAT,
  type ImportResults,
  parseImportResults,
  type SizeResult,
} from './results.js'
import { scanSql } from './scan-sql.js'
import { scaleTable, sizeTable } from './tables.js'

const interruption = new AbortController()
process.on('SIGINT', () => interruption.abort(new Error('interrupted')))
process.on('SIGTERM', () => interruption.abort(new Error('terminated')))

try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) print(USAGE)
  else if (options.drawPath !== undefined) draw(options.drawPath, options.svgPath)
  else await main(options, interruption.signal)
} catch (error) {
  process.stderr.write(`bench:import: ${(error as Error).message}\n`)
  process.exitCode = 1
}

async function main(options: ImportOptions, signal: AbortSignal): Promise<void> {
  const { seed, runCount } = options
  const machine = machineLine()
  print(`machine  ${machine}`)
  print(`data     synthetic recipients of the US, seed ${seed}`)
  print(`scan     ${scanSql('FILE')}`)
  print(
    `method   ${runCount} runs; median, least and most; files are read once before, and what is to be written is so`,
  )
  print()
  const date = new Date().toISOString()
  const sizes: SizeResult[] = []
  for (const recipientCount of options.recipientCounts) {
    const say = (line: string) => process.stderr.write(`${line}\n`)
    const size = await measureSize(recipientCount, options, say, signal)
    sizes.push(size)
    print(formatTable(sizeTable(size)))
    // After each, since the next one may take an hour, or more than there is.
    save({ date, machine, seed, runCount, sizes }, options.jsonPath)
  }
  print(formatTable(scaleTable(sizes)))
  if (options.svgPath !== undefined) writeFileSync(options.svgPath, plotScale(sizes, machine))
}

function save(
  results: Omit<ImportResults, 'format' | 'commit'>,
  jsonPath: string | undefined,
): void {
  if (jsonPath === undefined) return
  const file: ImportResults = {
    format: IMPORT_RESULTS_FORMAT,
    commit: commitName() ?? null,
    ...results,
  }
  writeFileSync(jsonPath, `${JSON.stringify(file, null, 2)}\n`)
}

function draw(jsonPath: string, svgPath = ''): void {
  const { sizes, machine } = parseImportResults(readFileSync(jsonPath, 'utf8'), jsonPath)
  print(formatTable(scaleTable(sizes)))
  writeFileSync(svgPath, plotScale(sizes, machine))
}

function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}
