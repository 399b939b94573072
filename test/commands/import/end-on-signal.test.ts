import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../../support/service/hickory.js'

const program = fileURLToPath(new URL('../fixtures/end-on-signal.js', import.meta.url))

for (const [when, expected, isCleaned] of [
  ['before', 143, true],
  ['held', 0, false],
] as const) {
  t.test(`SIGTERM ${when} what cannot be undone ends with ${expected}`, async (t) => {
    const path = join(temporaryDirectory(t), 'half')
    writeFileSync(path, '')
    const child = spawn(process.execPath, [program, when, path], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    setTimeout(() => child.stdin.end(), 200)
    t.same(await once(child, 'exit'), [expected, null])
    t.equal(existsSync(path), !isCleaned)
  })
}
