/**
 * `npm run loadtest:compare`: what has become worse?
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { type Change, compareResults } from './harness/comparison.js'
import { integerOption } from './harness/integer-option.js'
import { newestRelease, releasesDirectory } from './harness/releases.js'
import { type Figure, parseResults, type Results } from './harness/results.js'
import { formatFigure, formatTable } from './harness/table.js'

const USAGE = `npm run loadtest:compare -- [BASE] NEW.json [--threshold N] [--all] [--only FIGURE[,FIGURE]]
  BASE             what to compare with: a result, or a directory, of which the newest
                   VERSION.json is taken (loadtest/releases)
  --threshold N    per cent by which a figure must have become worse to fail, 1 to 1000 (20)
  --all            judges rates and times, too, if both were measured on one machine
  --only FIGURE    judges these alone, such as frontCostToEchoRatio
  --help           prints this
`

try {
  process.exitCode = main()
} catch (error) {
  process.stderr.write(`loadtest:compare: ${(error as Error).message}\n`)
  process.exitCode = 2
}

/** 1 when something has become worse. */
function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      threshold: { type: 'string', default: '20' },
      all: { type: 'boolean', default: false },
      only: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    print(USAGE)
    return 0
  }
  if (positionals.length < 1 || positionals.length > 2) throw new Error(`usage:\n${USAGE}`)
  const threshold = integerOption('threshold', values.threshold, 1, 1_000, USAGE)
  const headPath = positionals[positionals.length - 1]
  const basePath = basePathOf(positionals.length === 2 ? positionals[0] : releasesDirectory)
  const [base, head] = [read(basePath), read(headPath)]
  const only = values.only?.split(',')
  const { changes, notes } = compareResults(base, head, {
    thresholdShare: threshold / 100,
    judgesAll: values.all,
    only,
  })
  print(
    formatTable({
      title: `${titleOf(basePath, base)} and ${titleOf(headPath, head)}`,
      header: ['figure', 'before', 'spread', 'now', 'spread', 'change', ''],
      rows: changes.map(rowOf),
    }),
  )
  for (const note of notes) print(`note: ${note}`)
  const judged = changes.map(({ name }) => name)
  for (const name of only ?? []) {
    if (!judged.includes(name)) throw new Error(`not both results have ${name}`)
  }
  const worse = changes.filter(({ verdict }) => verdict === 'worse')
  print(
    worse.length === 0
      ? `ok: nothing has become worse by more than ${threshold} % and beyond the spread`
      : `${worse.length} figures have become worse by more than ${threshold} % and beyond the spread`,
  )
  return worse.length === 0 ? 0 : 1
}

function basePathOf(path: string): string {
  return statSync(path).isDirectory() ? newestRelease(path) : path
}

function read(path: string): Results {
  return parseResults(readFileSync(path, 'utf8'), path)
}

function titleOf(path: string, { date, commit }: Results): string {
  return `${basename(path)} (${date.slice(0, 10)}${commit === null ? '' : `, ${commit}`})`
}

function rowOf({ scenario, name, base, head, share, verdict }: Change): string[] {
  return [
    `${scenario} ${name}`,
    formatFigure(base.median),
    spreadOf(base),
    formatFigure(head.median),
    spreadOf(head),
    share === undefined ? 'from 0' : `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`,
    verdict === 'same' ? '' : verdict,
  ]
}

function spreadOf({ min, max }: Figure): string {
  return `${formatFigure(min)}–${formatFigure(max)}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
