/**
 * Runs tests, each file in a process of its own, one more at a time than there are cores, and ends with
 * one line that counts them.
 *
 *   npm test -- [FOLDER | FILE | NAME OF A TEST]...
 *   npm run test:all -- [--long-only] [FOLDER | FILE | NAME OF A TEST]...
 *
 * `--long-only` leaves out what `npm test` has run. test/support/tier.ts says what is of which tier.
 *
 * @module
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Choice, chooseFiles } from './runner/files.js'
import { report } from './runner/report.js'
import { runFiles } from './runner/run-files.js'

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean' }, 'long-only': { type: 'boolean' } },
  allowPositionals: true,
})
const isLongOnly = values['long-only'] === true
const isLong = values.all === true || isLongOnly
const choice = choose()
if (choice !== undefined) {
  const { files, testName } = choice
  const hasSourceMaps = isLong || positionals.length > 0
  // Many files wait for processes and timers: one more fills the cores.
  const laneCount = availableParallelism() + 1
  const options = { isLong, hasSourceMaps, testName, laneCount }
  process.exitCode = (await report(runFiles(files, options), { allowsSkips: !isLong })) ? 0 : 1
}

function choose(): Choice | undefined {
  const extent = !isLong ? 'short' : isLongOnly ? 'long-only' : 'all'
  try {
    return chooseFiles(extent, positionals)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.stdout.write('0 passed, 0 failed\n')
    process.exitCode = 1
    return undefined
  }
}
