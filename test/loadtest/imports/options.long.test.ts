import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readOptions } from '../../../loadtest/imports/options.js'

t.test('without arguments, files of ten million recipients are imported three times', async (t) => {
  t.match(readOptions([]), { recipientCounts: [10_000_000], seed: 1, runCount: 3, keep: false })
  t.same(readOptions([]).formats, ['csv', 'gzip', 'parquet', 'ndjson'])
})

t.test('formats are named one by one, csv always among them, a table apart', async (t) => {
  t.same(readOptions(['--formats', 'ndjson']).formats, ['csv', 'ndjson'])
  t.same(readOptions(['--formats', 'csv', '--postgres']).formats, ['csv', 'postgres'])
})

t.test('a scale is in millions, and measured from the smallest', async (t) => {
  t.same(readOptions(['--scale', '100,1']).recipientCounts, [1_000_000, 100_000_000])
})

t.test('an option that is wrong is named, with what it may be', async (t) => {
  const cases: readonly (readonly [string[], RegExp])[] = [
    [['--recipients', '999'], /--recipients is an integer from 1000 to 200000000, not "999"/],
    [['--recipients', '200000001'], /--recipients is an integer/],
    [['--scale', '0'], /--scale is an integer from 1 to 200, not "0"/],
    [['--scale', '1,'], /--scale is an integer from 1 to 200, not ""/],
    [['--scale', '1', '--recipients', '1000'], /exclude each other/],
    [['--formats', 'xls'], /--formats takes out of csv, gzip, parquet, ndjson, not "xls"/],
    [['--formats', 'postgres'], /--formats takes/],
    [['--runs', '0'], /--runs is an integer from 1 to 100/],
    [['--draw', 'results.json'], /--draw needs --svg FILE/],
    [['--fast'], /--fast/],
    [['csv'], /csv/],
  ]
  for (const [args, message] of cases) t.throws(() => readOptions(args), message, `${args}`)
})

t.test('the command tells how it is called, and what is wrong', async (t) => {
  const path = fileURLToPath(new URL('../../../loadtest/imports/run.js', import.meta.url))
  // Without the loaders that the test runner puts into NODE_OPTIONS.
  const { NODE_OPTIONS: _, ...env } = process.env
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path, ...args], { env, encoding: 'utf8' })
  t.match(run('--help'), { status: 0, stdout: /^npm run bench:import/ })
  t.match(run('--runs', 'many'), { status: 1, stderr: /^bench:import: --runs is an integer/ })
})
