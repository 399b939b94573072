/**
 * `hickory doctor --self-test` where it cannot go on: it says why, and leaves nothing behind.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startProgram } from '../../src/commands/doctor/program.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
const ARGS = ['doctor', '--self-test']

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
  t.match(await ended, { code: 1, stderr: /^hickory: .*hickory-self-test-\S+ does not exist$/m })
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
