/**
 * The files for the system around the service, by the tools of that system. systemd itself does not run where
 * tests do: its units are checked, and the system calls of the service compared with those that they allow.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const SYSTEM = fileURLToPath(new URL('../../../data/system/', import.meta.url))
const PROGRAM = '/usr/lib/hickory/bin/hickory'
const PATH = `${process.env.PATH}:/usr/sbin`

/** Runs a tool, which fails the test when it fails. */
function tool(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, PATH } })
}

/** Units whose program is one that every system has, since ours is not installed. */
function unitsIn(directory: string): string[] {
  const names = readdirSync(join(SYSTEM, 'systemd'))
  return names.map((name) => {
    const text = readFileSync(join(SYSTEM, 'systemd', name), 'utf8')
    const path = join(directory, name)
    writeFileSync(path, text.replaceAll(PROGRAM, '/bin/true'))
    return path
  })
}

t.test('systemd takes the units, and they expose little', async (t) => {
  const units = unitsIn(temporaryDirectory(t))
  t.equal(units.length, 3)
  tool('systemd-analyze', 'verify', '--man=no', ...units)
  const services = units.filter((unit) => unit.endsWith('.service'))
  // In tenths: at most 2.0.
  const told = tool('systemd-analyze', 'security', '--offline=yes', '--threshold=20', ...services)
  const exposures = [...told.matchAll(/Overall exposure level for (\S+): (\S+)/g)]
  t.equal(exposures.length, 2)
  for (const [, unit, exposure] of exposures) t.comment(`${unit}: ${exposure}`)
})

t.test('a unit with a wrong path is found', async (t) => {
  const path = join(temporaryDirectory(t), 'hickory.service')
  const text = readFileSync(join(SYSTEM, 'systemd/hickory.service'), 'utf8')
  writeFileSync(path, text.replaceAll(PROGRAM, '/nowhere/hickory'))
  t.throws(() => tool('systemd-analyze', 'verify', '--man=no', path), /\/nowhere\/hickory/)
})

t.test('the service and an import make no system call that the units forbid', async (t) => {
  const unit = readFileSync(join(SYSTEM, 'systemd/hickory.service'), 'utf8')
  const importUnit = readFileSync(join(SYSTEM, 'systemd/hickory-import@.service'), 'utf8')
  const filters = [...unit.matchAll(/^SystemCallFilter=.+$/gm)].map(String)
  t.same([...importUnit.matchAll(/^SystemCallFilter=.+$/gm)].map(String), filters)
  const allowed = new Set<string>()
  for (const [, sign, groups] of filters.join('\n').matchAll(/^SystemCallFilter=(~?)(.+)$/gm)) {
    for (const call of groups.split(' ').flatMap(callsOf)) {
      if (sign === '~') allowed.delete(call)
      else allowed.add(call)
    }
  }
  t.ok(allowed.size > 200)
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  const rows = join(directory, 'rows.csv')
  writeFileSync(rows, 'number,lat,lng\n+999555000001,29.7,-95.4\n')
  const traced = (name: string) => ['-f', '-qq', '-o', join(directory, name)]
  const cli = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
  const imported = [
    process.execPath,
    cli,
    'import',
    '--data',
    data,
    '--source',
    '1',
    '--label',
    'A',
  ]
  tool('strace', ...traced('import'), ...imported, rows)
  const served = [process.execPath, cli, 'serve', '--data', data, '--port', '0']
  const told = await answersOf('strace', ...traced('serve'), ...served)
  t.same(told, [200, 200])
  for (const name of ['import', 'serve']) {
    const calls = new Set(
      [...readFileSync(join(directory, name), 'latin1').matchAll(/^\d+ +(\w+)\(/gm)].map(
        ([, call]) => call,
      ),
    )
    t.ok(calls.has('mmap') && calls.has('futex'), `${calls.size} system calls of ${name}`)
    t.same(
      [...calls].filter((call) => !allowed.has(call)),
      [],
      name,
    )
  }
})

/** Statuses of a question and of a list to a service, which is stopped then. */
async function answersOf(program: string, ...args: readonly string[]): Promise<number[]> {
  const process = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  process.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = once(process, 'exit')
  try {
    await until(() => /http:\/\/\S+/.test(output), 120_000)
    const [url] = /http:\/\/[\d.:]+/.exec(output) ?? assert.fail()
    const geoJSON = { type: 'Feature', properties: { radius: 1e6 }, geometry: HOUSTON }
    const ready = await fetch(`${url}/readyz`)
    const body = JSON.stringify({ geoJSON })
    const list = await fetch(`${url}/api/recipients`, { method: 'POST', body })
    await list.text()
    return [ready.status, list.status]
  } finally {
    tool('pkill', '-TERM', '-P', String(process.pid))
    await ended
  }
}

const HOUSTON = { type: 'Point', coordinates: [-95.4, 29.7] }

t.test('the settings of a new installation are taken', async (t) => {
  const data = temporaryDirectory(t)
  const { code, stderr } = await hickory(
    'serve',
    '--config',
    join(SYSTEM, 'hickory.json'),
    '--data',
    data,
  )
  t.equal(code, 3, 'there is no snapshot yet')
  t.match(stderr, /hickory import/)
})

t.test('nftables takes its file, and Linux has the settings of its own', async (t) => {
  tool('nft', '--check', '--file', join(SYSTEM, 'nftables/hickory.nft'))
  const settings = readFileSync(join(SYSTEM, 'sysctl/60-hickory.conf'), 'utf8')
  const keys = [...settings.matchAll(/^([a-z0-9_.]+) = \d+$/gm)].map(([, key]) => key)
  t.equal(keys.length, 2)
  for (const key of keys) t.ok(existsSync(`/proc/sys/${key.replaceAll('.', '/')}`), key)
})

/** The system calls of a group of systemd, groups within it included. */
function callsOf(group: string): string[] {
  const lines = tool('systemd-analyze', 'syscall-filter', group)
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  return lines.flatMap((line) => (line.startsWith('@') ? callsOf(line) : [line]))
}
