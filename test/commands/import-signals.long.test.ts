/**
 * Imports that a signal ends: nothing of them is left, unless it comes too late.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { fingerprint } from '../support/data/snapshots.js'
import { startHickory, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const cli = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const HEADER = 'number,lat,lng,contact\n'
const CSV = 'number,lat,lng\n+9991,1,2\n'

t.test('a signal ends an import without a trace', async (t) => {
  const signals: [signal: NodeJS.Signals, code: number][] = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]
  for (const [signal, code] of signals) {
    const data = temporaryDirectory(t)
    const path = join(data, 'large.csv')
    writeFileSync(path, HEADER + '+9991,1,2,\n'.repeat(2_000_000))
    const before = fingerprint(data)
    const args = ['import', '--data', data, '--source', '1', '--label', 'x', path]
    const { child, finished } = startHickory(...args)
    let printed = ''
    child.stdout?.on('data', (text) => {
      printed += text
    })
    await until(() => printed.includes('source     1'))
    t.ok(existsSync(join(data, 'import.lock')))
    child.kill(signal)
    const ended = await finished
    t.match(ended, { code, stderr: /nothing was published/ })
    t.notOk(existsSync(join(data, 'import.lock')))
    const left = Object.keys(fingerprint(data)).filter((name) => name !== 'snapshots')
    t.same(left, Object.keys(before))
  }
})

t.test('a signal that comes while the snapshot takes its place changes nothing', async (t) => {
  const data = temporaryDirectory(t)
  const path = join(data, 'people.csv')
  writeFileSync(path, HEADER + '+9991,1,2,\n'.repeat(500_000))
  const args = ['import', '--data', data, '--source', '1', '--label', 'x', path]
  const { child, finished } = startHickory(...args)
  const snapshots = join(data, 'snapshots')
  const named = () =>
    existsSync(snapshots) && readdirSync(snapshots).some((name) => !/[.]/.test(name))
  await until(named)
  child.kill('SIGTERM')
  const ended = await finished
  t.match(ended, { code: 0, stdout: /^snapshot/m })
  t.notMatch(ended.stderr, /nothing was published/)
  t.equal((await openSnapshot(data)).sources.length, 1)
})

for (const flags of [[], ['--dry-run']]) {
  t.test(`a signal takes what is spooled away ${flags}`, async (t) => {
    const directory = t.testdir({ data: {}, temporary: {} })
    const [data, temporary] = [join(directory, 'data'), join(directory, 'temporary')]
    const child = spawn(
      process.execPath,
      [cli, 'import', '--data', data, '--source=1', '--label=One', ...flags, '-'],
      { env: { ...process.env, TMPDIR: temporary }, stdio: ['pipe', 'ignore', 'ignore'] },
    )
    const ended = once(child, 'exit')
    child.stdin.on('error', () => undefined)
    child.stdin.write(CSV.repeat(100_000))
    const spooled = () =>
      [...existing(data), ...existing(temporary)].filter((name) =>
        /input-|spool|hickory/.test(name),
      )
    await until(() => spooled().some((name) => name.endsWith('.tmp')))
    child.kill('SIGTERM')
    await ended
    t.same(spooled(), [])
  })
}

t.test('and the directory in which a dry run keeps it', async (t) => {
  const temporary = t.testdir({})
  const child = spawn(
    process.execPath,
    [
      cli,
      'import',
      '--data',
      join(temporary, 'data'),
      '--source=1',
      '--label=One',
      '--dry-run',
      '-',
    ],
    { stdio: ['pipe', 'ignore', 'ignore'], env: { ...process.env, TMPDIR: temporary } },
  )
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.stdin.on('error', () => undefined)
  child.stdin.write(CSV.repeat(100_000))
  const ours = () => existing(temporary).filter((name) => name.startsWith('hickory-import-'))
  await until(() => ours().length > 1)
  child.kill('SIGTERM')
  t.equal(await ended, 143)
  t.same(ours(), [])
})

function existing(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String)
}
