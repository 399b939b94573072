import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { dist } from './files.js'
import { sourceOf } from './imports.js'
import { type FileRun, hasOwnProcess, runFiles } from './lanes.js'

const fixture = (url: URL) => sourceOf(relative(dist, fileURLToPath(url)))
const clean = fixture(new URL('fixtures/clean.js', import.meta.url))
const endless = fixture(new URL('fixtures/endless.js', import.meta.url))
const lateError = fixture(new URL('fixtures/late-error.js', import.meta.url))
const leftBehind = fixture(new URL('fixtures/left-behind.js', import.meta.url))
const leftovers = fixture(new URL('fixtures/leftovers.js', import.meta.url))
const ownProcess = fixture(new URL('fixtures/own-process.js', import.meta.url))
const strayError = fixture(new URL('fixtures/stray-error.js', import.meta.url))
const strayRejection = fixture(new URL('fixtures/stray-rejection.js', import.meta.url))
const unloadable = fixture(new URL('fixtures/unloadable.js', import.meta.url))

async function run(files: readonly string[], endMs?: number): Promise<FileRun[]> {
  const runs: FileRun[] = []
  const options = { isSoak: false, hasSourceMaps: false, laneCount: 1, endMs }
  for await (const run of runFiles(files, options)) runs.push(run)
  return runs
}

/** One after the other in one lane, most of them after a clean file whose process they share. */
const files = [
  ...[strayError, clean, strayRejection, clean, unloadable, clean, leftovers, clean],
  ...[ownProcess, clean, leftBehind, lateError],
]
const runs = await run(files)

const runOf = (file: string) => runs[files.indexOf(file)]

for (const file of [strayError, strayRejection]) {
  t.test(`an error that no test awaits fails its file, which says so: ${file}`, async (t) => {
    const { failedCount, report } = runOf(file)
    t.ok(failedCount > 0)
    t.match(report, /a stray error/)
  })
}

t.test('an error after the last test fails a file that has its process for itself', async (t) => {
  const { failedCount, report } = runOf(lateError)
  t.equal(failedCount, 1)
  t.match(report, /ended with 1\b[\s\S]*a late error/)
})

t.test('a file that cannot be loaded has failed', async (t) => {
  const { failedCount, report } = runOf(unloadable)
  t.equal(failedCount, 1)
  t.match(report, /cannot be loaded/)
})

t.test('a run that has to end names what runs then, and starts no other', async (t) => {
  const runs = await run([endless, clean], Date.now() + 10_000)
  t.equal(runs.length, 1)
  t.ok(runs[0].failedCount > 0)
  t.match(runs[0].report, /an endless test/)
})

t.test(
  'a clean file has passed, after whichever other, and promises are not followed',
  async (t) => {
    t.same(
      runs.map(({ file }) => file),
      files,
    )
    for (const { passedCount, failedCount, report } of runs.filter(({ file }) => file === clean)) {
      t.same([passedCount, failedCount], [2, 0], report)
    }
  },
)

t.test('a file has ended although what it has started lives on', async (t) => {
  t.equal(runOf(leftBehind).passedCount, 1)
})

t.test('what a file leaves in the process of others fails it, each kind by its name', async (t) => {
  const { failedCount, report } = runOf(leftovers)
  t.equal(failedCount, 6, report)
  for (const what of [
    /leaves 1 × Timeout behind/,
    /leaves 1 × SIGWINCH listeners of the process behind/,
    /leaves a changed global leftByAFile behind/,
    /leaves a changed variable LEFT_BY_A_FILE behind/,
    /leaves a changed limit bodyBytes behind/,
    /leaves another working directory behind/,
  ]) {
    t.match(report, what)
  }
})

t.test('a file with a process of its own shares it with none', async (t) => {
  t.ok(hasOwnProcess(ownProcess))
  t.notOk(hasOwnProcess(clean))
  const { failedCount, report } = runOf(ownProcess)
  t.equal(failedCount, 0, report)
})
