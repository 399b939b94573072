import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { dist } from './files.js'
import { sourceOf } from './imports.js'
import { type FileRun, hasOwnProcess, runFiles } from './lanes.js'

const fixture = (url: URL) => sourceOf(relative(dist, fileURLToPath(url)))
const clean = fixture(new URL('fixtures/clean.js', import.meta.url))
const lateError = fixture(new URL('fixtures/late-error.js', import.meta.url))
const leftBehind = fixture(new URL('fixtures/left-behind.js', import.meta.url))
const leftovers = fixture(new URL('fixtures/leftovers.js', import.meta.url))
const ownProcess = fixture(new URL('fixtures/own-process.js', import.meta.url))
const strayError = fixture(new URL('fixtures/stray-error.js', import.meta.url))
const strayRejection = fixture(new URL('fixtures/stray-rejection.js', import.meta.url))
const unloadable = fixture(new URL('fixtures/unloadable.js', import.meta.url))

/** One after the other in one lane. */
async function run(...files: readonly string[]): Promise<FileRun[]> {
  const runs: FileRun[] = []
  const options = { isSoak: false, hasSourceMaps: false, laneCount: 1 }
  for await (const run of runFiles(files, options)) runs.push(run)
  return runs
}

for (const file of [strayError, strayRejection]) {
  t.test(`an error that no test awaits fails its file, which says so: ${file}`, async (t) => {
    const [{ failedCount, report }, next] = await run(file, clean)
    t.ok(failedCount > 0)
    t.match(report, /a stray error/)
    t.equal(next.failedCount, 0, 'the next file has another process')
  })
}

t.test('an error after the last test fails a file that has its process for itself', async (t) => {
  const [{ failedCount, report }] = await run(lateError)
  t.equal(failedCount, 1)
  t.match(report, /ended with 1\b[\s\S]*a late error/)
})

t.test('a file that cannot be loaded has failed, and those after it run', async (t) => {
  const [{ failedCount, report }, next] = await run(unloadable, clean)
  t.equal(failedCount, 1)
  t.match(report, /cannot be loaded/)
  t.equal(next.failedCount, 0, next.report)
})

t.test('a clean file has passed, and promises are not followed', async (t) => {
  const [{ passedCount, failedCount, report }] = await run(clean)
  t.same([passedCount, failedCount], [2, 0], report)
})

t.test('a file has ended although what it has started lives on', async (t) => {
  const [{ passedCount }] = await run(leftBehind)
  t.equal(passedCount, 1)
})

t.test('what a file leaves in the process of others fails it, each kind by its name', async (t) => {
  const [{ failedCount, report }, next] = await run(leftovers, clean)
  t.equal(failedCount, 5, report)
  for (const what of [
    /leaves 1 × Timeout behind/,
    /leaves 1 × SIGWINCH listeners of the process behind/,
    /leaves a changed global leftByAFile behind/,
    /leaves a changed variable LEFT_BY_A_FILE behind/,
    /leaves another working directory behind/,
  ]) {
    t.match(report, what)
  }
  t.equal(next.failedCount, 0, 'the next file has another process')
})

t.test('a file with a process of its own shares it with none', async (t) => {
  t.ok(hasOwnProcess(ownProcess))
  t.notOk(hasOwnProcess(clean))
  const runs = await run(clean, ownProcess, clean)
  t.same(
    runs.map(({ failedCount }) => failedCount),
    [0, 0, 0],
  )
})
