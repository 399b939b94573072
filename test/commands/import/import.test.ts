import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../../src/commands/import/import.js'
import { limits } from '../../../src/limits.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { withDataLock } from '../../../src/snapshot/publish/lock.js'
import { fingerprint, silentLog } from '../../support/data/snapshots.js'

const HEADER = 'number,lat,lng,contact\n'
const GOOD = `${HEADER}+9991,1,2,a\n+9992,1,2,\n`
const MIXED = `${GOOD}+999123456789,91.5,2,\n+9994,1,2\n+9995,95,2,\n`
const ALL_BAD = `${HEADER}+9991,x,2,\n`

interface Place {
  readonly data: string
  /** Runs the command in this process on a file of this content. */
  readonly run: (content: string, ...flags: string[]) => Promise<Run>
}

interface Run {
  readonly out: string
  readonly code: string | undefined
  readonly exitCode: number
}

function place(t: Test): Place {
  const directory = t.testdir({})
  const data = join(directory, 'data')
  mkdirSync(data)
  const path = join(directory, 'people.csv')
  return {
    data,
    run: (content, ...flags) => {
      writeFileSync(path, content)
      return runCommand(t, data, [...flags, path])
    },
  }
}

async function runCommand(t: Test, data: string, args: string[]): Promise<Run> {
  const written = t.capture(process.stdout, 'write', () => true)
  const command = importCommand({ dataDirectory: (flag) => flag ?? data, log: silentLog })
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  const failure = await command.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: { code: string; exitCode: number }) => error,
  )
  written.restore()
  const out = written()
    .map((call) => String(call.args[0]))
    .join('')
  return { out, code: failure?.code, exitCode: failure?.exitCode ?? 0 }
}

t.test('a clean import says what it read and which snapshot it published', async (t) => {
  const { data, run } = place(t)
  const { out, exitCode } = await run(GOOD, '--source', '7', '--label', 'Residents')
  t.equal(exitCode, 0)
  const { id, sources } = await openSnapshot(data)
  t.match(out, /^rows read {2}2$/m)
  t.match(out, /^accepted {3}2$/m)
  t.match(out, /^rejected {3}0$/m)
  t.match(out, new RegExp(`^snapshot {3}${id}$`, 'm'))
  t.match(out, /^time +[0-9.]+ s$/m)
  const hasKeys = false
  t.same(sources, [{ id: 7, label: 'Residents', recipientCount: 2, contactCount: 2, hasKeys }])
})

t.test('rejected rows are left out and counted by reason, without their values', async (t) => {
  const { data, run } = place(t)
  const source = ['--source', '7', '--label', 'Residents', '--max-rejected', '60%']
  const { out, exitCode } = await run(MIXED, ...source)
  t.equal(exitCode, 0)
  t.match(out, /^rows read {2}5$/m)
  t.match(out, /^accepted {3}2$/m)
  t.match(out, /^rejected {3}3$/m)
  t.match(out, /^ {2}LatOutOfRange 2: .*\n.*people\.csv:4, .*people\.csv:6$/m)
  t.match(out, /^ {2}FieldCountWrong 1: .*\n.*people\.csv:5$/m)
  t.notMatch(out, /999123456789|91\.5/)
  t.equal((await openSnapshot(data)).sources[0].recipientCount, 2)
})

t.test('a map shows where rejected rows are, and nobody who is quiet sees it', async (t) => {
  const { run } = place(t)
  const rows = [
    '+9991,1,2',
    'none,29.76,-95.36',
    'none,29.71,-95.31',
    'none,30.01,-95.36',
    'none,91,2',
  ]
  const content = `number,lat,lng\n${rows.join('\n')}\n`
  const expected = [
    'where      3 of 4 rejected rows have a position that could be used,',
    '           from -95.4000 to -95.3000 degrees east and from 29.7000 to 30.1000 degrees north',
    ...['+-+', '|.|', '| |', '| |', '|:|', '+-+', '. 1   : 2'],
  ].join('\n')
  const flags = ['--source', '1', '--label', 'One', '--max-rejected', '100%']
  for (const mode of [['--dry-run', '0'], []]) {
    const { out } = await run(content, ...flags, ...mode)
    t.ok(out.includes(`\n${expected}\n`), out)
  }
  const { out } = await run(content, ...flags, '--json')
  t.notMatch(out, /where {6}|degrees east/)
  const nowhere = 'number,lat,lng\n+9991,1,2\n+9992,x,2\n'
  t.notMatch((await run(nowhere, ...flags)).out, /^where/m)
})

t.test('an import that fails publishes nothing and changes nothing', async (t) => {
  const { data, run } = place(t)
  await run(GOOD, '--source', '7', '--label', 'Residents')
  const before = fingerprint(data)
  const cases: [content: string, flags: string[], code: string, exitCode: number][] = [
    [MIXED, ['--strict'], 'InputRejected', 5],
    [ALL_BAD, [], 'InputRejected', 5],
    ['number,lat\n', [], 'InputRejected', 5],
    ['', [], 'InputRejected', 5],
  ]
  for (const [content, flags, code, exitCode] of cases) {
    const result = await run(content, '--source', '7', ...flags)
    t.match(result, { code, exitCode })
    t.notMatch(result.out, /snapshot/)
    t.same(fingerprint(data), before, `${code} ${flags}`)
  }
})

t.test('under --strict the report is printed all the same', async (t) => {
  const { run } = place(t)
  const { out, exitCode } = await run(MIXED, '--source', '7', '--label', 'Residents', '--strict')
  t.equal(exitCode, 5)
  t.match(out, /LatOutOfRange 2/)
  const clean = await run(GOOD, '--source', '7', '--label', 'Residents', '--strict')
  t.equal(clean.exitCode, 0)
})

t.test('a file with only a header empties a source only when told so', async (t) => {
  const { data, run } = place(t)
  await run(GOOD, '--source', '7', '--label', 'Residents')
  t.match(await run(HEADER, '--source', '7'), { code: 'InputRejected', exitCode: 5 })
  t.ok((await openSnapshot(data)).shards.length > 0)
  t.equal((await run(HEADER, '--source', '7', '--allow-empty')).exitCode, 0)
  const { sources, shards } = await openSnapshot(data)
  t.match(sources, [{ id: 7, label: 'Residents', recipientCount: 0 }])
  t.same(shards, [])
})

t.test('a label may be left out if the source has one, and replaces it otherwise', async (t) => {
  const { data, run } = place(t)
  t.match(await run(GOOD, '--source', '7'), { code: 'Usage', exitCode: 2 })
  await run(GOOD, '--source', '7', '--label', 'First')
  await run(GOOD, '--source', '7')
  t.equal((await openSnapshot(data)).sources[0].label, 'First')
  await run(GOOD, '--source', '7', '--label', 'Second')
  t.equal((await openSnapshot(data)).sources[0].label, 'Second')
})

t.test('flags are checked at their bounds and one past', async (t) => {
  const { run } = place(t)
  const label = ['--label', 'x']
  const cases: [flags: string[], exitCode: number][] = [
    [['--source', '0', ...label], 0],
    [['--source', String(limits.sourceIdMax), ...label], 0],
    [['--source', String(limits.sourceIdMax + 1), ...label], 2],
    [['--source', '-1', ...label], 2],
    [['--source', '1.5', ...label], 2],
    [['--source', '', ...label], 2],
    [['--source', '1', '--label', 'é'.repeat(limits.labelBytes / 2)], 0],
    [['--source', '1', '--label', `${'é'.repeat(limits.labelBytes / 2)}e`], 2],
    [['--source', '1', '--label', ' '], 2],
    [['--source', '1', '--label', 'two\nlines'], 2],
  ]
  for (const [flags, exitCode] of cases) {
    t.equal((await run(GOOD, ...flags)).exitCode, exitCode, JSON.stringify(flags).slice(0, 60))
  }
})

t.test('what is missing or unknown on the command line is refused by its parser', async (t) => {
  const { data } = place(t)
  for (const args of [[], ['--source', '1'], ['x.csv'], ['--source', '1', '--nonsense', 'x.csv']]) {
    t.match(await runCommand(t, data, args), { code: /^commander\./ }, args.join(' '))
  }
})

t.test('--data names the directory', async (t) => {
  const { data, run } = place(t)
  const other = `${data}-other`
  await run(GOOD, '--source', '7', '--label', 'x', '--data', other)
  t.match(readFileSync(join(other, 'CURRENT'), 'utf8'), /^000001-/)
  t.same(fingerprint(data), {})
})

t.test('a second import is refused while one is under way', async (t) => {
  const { data, run } = place(t)
  await withDataLock(data, async () => {
    const result = await run(GOOD, '--source', '7', '--label', 'x')
    t.match(result, { out: '', code: 'Locked', exitCode: 6 })
  })
})

t.test('help shows an example', async (t) => {
  let help = ''
  const command = importCommand({ dataDirectory: () => '', log: silentLog }).configureOutput({
    writeOut: (text) => {
      help += text
    },
  })
  command.outputHelp()
  t.match(help, /\$ hickory import .*--source 1 --label Residents/)
  t.match(help, /--strict/)
})

t.test('a damaged snapshot is mended by an import of all its sources', async (t) => {
  for (const file of ['CURRENT', 'manifest.json']) {
    const { data, run } = place(t)
    await run(GOOD, '--source', '7', '--label', 'Residents')
    const { id } = await openSnapshot(data)
    writeFileSync(file === 'CURRENT' ? join(data, file) : join(data, 'snapshots', id, file), 'x')
    const other = await run(GOOD, '--source', '8', '--label', 'Others')
    t.equal(other.code, 'SnapshotCorrupt')
    const { exitCode } = await run(GOOD, '--source', '7', '--label', 'Residents')
    t.equal(exitCode, 0)
    t.match((await openSnapshot(data)).sources, [{ id: 7, recipientCount: 2 }])
  }
})
