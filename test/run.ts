/**
 * Runs tests in as many processes as there are cores and two more, and ends with one line that counts them.
 *
 *   npm test -- [--verbose] [FOLDER | FILE | NAME OF A TEST]...
 *   npm run test:all -- [--verbose] [--long-only] [FOLDER | FILE | NAME OF A TEST]...
 *
 * `HICKORY_TEST_END`, in seconds since 1970, ends a run that has not ended by then, which has failed.
 *
 * `--long-only` leaves out what `npm test` has run, `--soak` takes the sizes of the soak, and `--verbose` says each file
 * and its seconds. test/support/tier.ts says what is of which tier.
 *
 * @module
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Choice, chooseFiles, type Extent } from './runner/files.js'
import { runFiles } from './runner/lanes.js'
import { report } from './runner/report.js'

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean' },
    'long-only': { type: 'boolean' },
    soak: { type: 'boolean' },
    verbose: { type: 'boolean' },
  },
  allowPositionals: true,
})
const extent: Extent = values['long-only'] ? 'long-only' : values.all ? 'all' : 'short'
const choice = choose()
if (choice !== undefined) {
  const { files, testName } = choice
  process.env.HICKORY_TEST_SEED ??= String(Date.now() % 2 ** 31)
  const seed = process.env.HICKORY_TEST_SEED
  const runs = runFiles(files, {
    isSoak: values.soak === true,
    hasSourceMaps: positionals.length > 0,
    testName,
    // Many files wait for processes and timers. With one more, those of the long tier only wait for each other.
    laneCount: availableParallelism() + 2,
    endMs: process.env.HICKORY_TEST_END ? Number(process.env.HICKORY_TEST_END) * 1000 : undefined,
  })
  const script = values.soak ? 'node dist/test/run.js --soak' : 'npm test --'
  const isAllRight = await report(runs, {
    fileCount: files.length,
    command: (file) => `HICKORY_TEST_SEED=${seed} ${script} ${file}`,
    allowsSkips: extent === 'short',
    isWatched: false,
    isVerbose: values.verbose === true,
    seed,
  })
  process.exitCode = isAllRight ? 0 : 1
}

function choose(): Choice | undefined {
  try {
    return chooseFiles(extent, positionals)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.stdout.write('0 passed, 0 failed\n')
    process.exitCode = 1
    return undefined
  }
}
