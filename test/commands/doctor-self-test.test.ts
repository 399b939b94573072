/**
 * `hickory doctor --self-test`: it passes on an installation that works, without data, and leaves nothing behind.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))

t.test('an installation that works', async (t) => {
  const directory = temporaryDirectory(t)
  // Settings of a service that would answer otherwise, or not at all.
  const settings = {
    HICKORY_DATA: join(directory, 'missing'),
    HICKORY_KEYS: 'true',
    HICKORY_PORT: '1',
    HICKORY_LOG_LEVEL: 'silent',
    HICKORY_HTTP_THREADS: '9',
  }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, 'doctor', '--self-test', '--json'],
    { cwd: directory, env: { ...process.env, ...settings, TMPDIR: directory } },
  )
  const told: {
    dataDirectory?: string
    isHealthy: boolean
    checks: { name: string; state: string; found: string }[]
  } = JSON.parse(stdout)
  t.equal(told.isHealthy, true)
  t.equal(told.dataDirectory, undefined)
  const ofTest = told.checks.slice(8)
  t.same(
    ofTest.map(({ name }) => name),
    ['sample', 'import', 'service', 'count', 'list', 'polygon', 'circle', 'stop'],
  )
  for (const { name, state, found } of ofTest) {
    t.equal(state, 'ok', `${name}: ${found}`)
    t.match(found, /, in \d+\.\d\d s$/)
  }
  t.match(ofTest[0].found, /30000 recipients \(seed 1\) and 15000 recipients \(seed 2\)/)
  t.same(readdirSync(directory), [], 'nothing is left')
})

t.test('it looks at no directory of the user', async (t) => {
  for (const flags of [['--data', temporaryDirectory(t)], ['--full']]) {
    t.match(await hickoryHere('doctor', '--self-test', ...flags), {
      code: 2,
      stderr: /'--self-test' cannot be used with option '--(data|full)/,
    })
  }
})
