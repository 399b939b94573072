/**
 * `hickory doctor --self-test`: it passes on an installation that works, without data. Where it cannot go on it says why.
 * It leaves nothing behind.
 *
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startProgram } from '../../src/commands/doctor/program.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const cli = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const ARGS = ['doctor', '--self-test']

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
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...ARGS, '--json'], {
    cwd: directory,
    env: { ...process.env, ...settings, TMPDIR: directory },
  })
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

t.test('a signal ends it, with what it has started', async (t) => {
  const moments: readonly [name: string, signal: NodeJS.Signals, code: number][] = [
    ['1.csv', 'SIGTERM', 143],
    ['data/snapshots', 'SIGINT', 130],
    ['data/store', 'SIGTERM', 143],
  ]
  for (const [name, signal, code] of moments) {
    const directory = temporaryDirectory(t)
    const { child, ended } = start(t, directory)
    await until(() =>
      readdirSync(directory).some((each) => existsSync(join(directory, each, name))),
    )
    child.kill(signal)
    t.match(await ended, { code, stderr: `stopped by ${signal}, the self-test is not over` })
    t.same(readdirSync(directory), [], `nothing is left when ${name} is there`)
    await until(() => processesOf(directory).length === 0)
  }
})

t.test('a file that cannot be written', async (t) => {
  const directory = temporaryDirectory(t)
  // In blocks of 512 or 1,024 bytes: less than the file of the first source has.
  const { ended } = start(t, directory, 'ulimit -f 1000;')
  const { code, stdout, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /failed: import\. What to do stands beside each check/)
  t.match(stdout, /^import +failed +EFBIG.* See what it says; make room/m)
  t.notMatch(stdout, /^(service|count)/m, 'nothing is compared without a service')
  t.same(readdirSync(directory), [])
})

t.test('a temporary directory that is not there', async (t) => {
  const { ended } = start(t, join(temporaryDirectory(t), 'missing'))
  t.match(await ended, {
    code: 1,
    stderr: /^hickory: .*hickory-self-test-\S+ does not exist: check its name and its directory$/m,
  })
})

t.test('a program that ends says how, and what it said last', async (t) => {
  const { ended, lineWith } = startProgram('verify', '--data', join(temporaryDirectory(t), 'empty'))
  t.equal(await lineWith('ready'), undefined)
  t.match(await ended, { code: 3, text: /^ended with 3: hickory: there is no snapshot in / })
})

function start(t: Test, directory: string, before = '') {
  const child = spawn('sh', ['-c', `${before} exec "$0" "$@"`, process.execPath, cli, ...ARGS], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
  return { child, ended }
}

/** Those that name a directory on their command line, as Linux tells of it. */
function processesOf(directory: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, 'latin1').includes(directory)
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
}
