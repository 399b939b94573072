/**
 * Processes that end while they have a draft of a snapshot.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { manyColumns } from '../support/data/columns.js'
import { fingerprint, publishTest } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const program = fileURLToPath(new URL('./fixtures/publish.js', import.meta.url))

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} ends an import that is writing, and nothing of it is left`, async (t) => {
    const data = temporaryDirectory(t)
    await publishTest(data, 5, manyColumns(5))
    const before = fingerprint(data)
    const child = spawn(process.execPath, [program, data], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill(signal)
    t.same(await once(child, 'exit'), [null, signal])
    t.same(fingerprint(data), before)
  })
}

t.test('a process that ends of itself leaves no draft either', async (t) => {
  const data = temporaryDirectory(t)
  const child = spawn(process.execPath, [program, data, 'exit'], { stdio: 'ignore' })
  t.same(await once(child, 'exit'), [0, null])
  t.same(readdirSync(join(data, 'snapshots')), [])
})
