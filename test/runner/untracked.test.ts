import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { dist } from './files.js'
import { sourceOf } from './imports.js'
import { runFile } from './run-file.js'

const run = (url: URL) =>
  runFile(sourceOf(relative(dist, fileURLToPath(url))), { isLong: false, hasSourceMaps: false })

for (const url of [
  new URL('fixtures/stray-error.js', import.meta.url),
  new URL('fixtures/stray-rejection.js', import.meta.url),
]) {
  t.test('a file with an error that nobody awaits has failed, and says by what', async (t) => {
    const { failedCount, report } = await run(url)
    t.ok(failedCount > 0)
    t.match(report, /a stray error/)
  })
}

t.test('promises are not followed', async (t) => {
  const { passedCount, report } = await run(new URL('fixtures/unfollowed.js', import.meta.url))
  t.equal(passedCount, 1, report)
})

t.test('a file has ended although what it has started lives on', async (t) => {
  const { passedCount } = await run(new URL('fixtures/left-behind.js', import.meta.url))
  t.equal(passedCount, 1)
})
