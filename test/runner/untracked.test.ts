import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { dist } from './files.js'
import { sourceOf } from './imports.js'
import { runFile } from './run-file.js'

const files = [
  new URL('fixtures/stray-error.js', import.meta.url),
  new URL('fixtures/stray-rejection.js', import.meta.url),
].map((url) => sourceOf(relative(dist, fileURLToPath(url))))

for (const file of files) {
  t.test(`${file} has failed, and says by what`, async (t) => {
    const { failedCount, report } = await runFile(file, { isLong: false, hasSourceMaps: false })
    t.ok(failedCount > 0)
    t.match(report, /a stray error/)
  })
}
