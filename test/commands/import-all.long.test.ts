import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { importCommand } from '../../src/commands/import/import.js'
import { readSourcesFile } from '../../src/commands/import/sources-file.js'
import { limits } from '../../src/limits.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { parseDatabaseUrl } from '../../src/sources/postgres/url.js'
import { fingerprint, silentLog } from '../support/data/snapshots.js'

const HEADER = 'number,lat,lng,contact\n'
const GOOD = `${HEADER}+9991,1,2,a\n+9992,1,2,\n`
const SOME_BAD = `${GOOD}+9993,91,2,\n`
const ALL_BAD = `${HEADER}+9991,x,2,\n`

interface Run {
  readonly out: string
  readonly exitCode: number
  readonly message: string
}

interface Place {
  readonly data: string
  /** Writes a file beside sources.json. */
  readonly write: (name: string, content: string) => void
  readonly writeSources: (...sources: object[]) => void
  readonly run: (...args: string[]) => Promise<Run>
}

function place(t: Test): Place {
  const data = join(t.testdir({}), 'data')
  mkdirSync(data)
  const write = (name: string, content: string) => writeFileSync(join(data, name), content)
  return {
    data,
    write,
    writeSources: (...sources) => write('sources.json', JSON.stringify({ sources })),
    run: (...args) => runCommand(t, data, args),
  }
}

async function runCommand(t: Test, data: string, args: readonly string[]): Promise<Run> {
  const written = t.capture(process.stdout, 'write', () => true)
  const command = importCommand({ dataDirectory: (flag) => flag ?? data, log: silentLog })
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  const failure = await command.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: Error & { exitCode?: number }) => error,
  )
  written.restore()
  const out = written().map((call) => String(call.args[0]))
  const exitCode = failure === undefined ? 0 : (failure.exitCode ?? Number.NaN)
  return { out: out.join(''), exitCode, message: failure?.message ?? '' }
}

const one = { id: 1, label: 'One', files: ['one.csv'] }
const two = { id: 2, label: 'Two', files: ['two.csv', 'one.csv'] }

t.test('--all publishes every source of the list in one snapshot', async (t) => {
  const { data, write, writeSources, run } = place(t)
  write('one.csv', GOOD)
  write('two.csv', SOME_BAD)
  writeSources(one, { ...two, maxRejected: 1 })
  const { out, exitCode } = await run('--all')
  t.equal(exitCode, 0)
  t.match(out, /^ +1 +One +2 +2 +0 +published$/m)
  t.match(out, /^ +2 +Two +5 +4 +1 +published$/m)
  t.equal(readdirSync(join(data, 'snapshots')).length, 1)
  t.match((await openSnapshot(data)).sources, [
    { id: 1, recipientCount: 2 },
    { id: 2, recipientCount: 4 },
  ])
  writeSources({ id: 1, files: ['one.csv'] })
  t.equal((await run('--all')).exitCode, 0, 'a label may be left out if the source has one')
  t.equal((await openSnapshot(data)).sources.length, 2, 'what is not in the list stays')
})

t.test('one source that fails fails all of them', async (t) => {
  const { data, write, writeSources, run } = place(t)
  write('one.csv', GOOD)
  write('two.csv', GOOD)
  writeSources(one, two)
  await run('--all')
  const before = fingerprint(data)
  for (const content of [ALL_BAD, '', HEADER, undefined]) {
    const name = content === undefined ? 'missing.csv' : 'two.csv'
    if (content !== undefined) write(name, content)
    writeSources(one, { ...two, files: [name] })
    const { exitCode, message } = await run('--all')
    t.equal(exitCode, 5)
    t.match(message, /^source 2: /)
    const after = fingerprint(data)
    const snapshots = (files: object) => Object.entries(files).filter(([n]) => !n.includes('.csv'))
    t.same(snapshots(after).slice(0, -1), snapshots(before).slice(0, -1))
  }
  write('two.csv', SOME_BAD)
  writeSources(one, { ...two, files: ['two.csv'], strict: true })
  t.match(await run('--all'), { exitCode: 5, message: /--strict/ })
  write('two.csv', HEADER)
  writeSources(one, { ...two, files: ['two.csv'], allowEmpty: true })
  t.equal((await run('--all')).exitCode, 0)
})

t.test('nothing is said to be published that is not', async (t) => {
  const { data, write, writeSources, run } = place(t)
  write('one.csv', GOOD)
  writeSources(one)
  // In the way of what is renamed to CURRENT.
  mkdirSync(join(data, 'CURRENT.tmp', 'x'), { recursive: true })
  const { out, exitCode, message } = await run('--all')
  t.equal(exitCode, 1)
  t.match(message, /no snapshot was published/)
  t.notMatch(out, /published/)
})

t.test('--keep-going publishes the others, and says which failed', async (t) => {
  const { data, write, writeSources, run } = place(t)
  write('one.csv', GOOD)
  write('two.csv', GOOD)
  writeSources(one, two)
  await run('--all')
  write('one.csv', ALL_BAD)
  write('two.csv', `${GOOD}+9994,1,2,\n`)
  const list = [one, { ...two, files: ['two.csv'] }, { id: 3, label: 'x', files: ['three.csv'] }]
  writeSources(...list)
  const { out, exitCode, message } = await run('--all', '--keep-going', '--max-shrink', '25%')
  t.equal(exitCode, 10)
  t.match(message, /2 of 3 sources failed .*: 1, 3$/)
  t.match(out, /^failed +every row was rejected/m)
  t.match(out, /^failed +.*three\.csv does not exist/m)
  t.match(out, /^ +1 +One +1 +0 +1 +failed$/m)
  t.match(out, /^ +2 +Two +3 +3 +0 +published$/m)
  t.match((await openSnapshot(data)).sources, [
    { id: 1, recipientCount: 2 },
    { id: 2, recipientCount: 3 },
  ])
  writeSources(one)
  const before = (await openSnapshot(data)).id
  t.match(await run('--all', '--keep-going'), { exitCode: 5, message: /every source failed/ })
  t.equal((await openSnapshot(data)).id, before)
})

t.test('a dry run shows rows and rejects, takes no lock and publishes nothing', async (t) => {
  const { data, write, writeSources, run } = place(t)
  write('one.csv', SOME_BAD)
  const before = fingerprint(data)
  const source = ['--source', '1', '--label', 'One', '--max-rejected', '1']
  const args = [...source, join(data, 'one.csv')]
  const { out, exitCode } = await run(...args, '--dry-run')
  t.equal(exitCode, 0)
  t.match(out, /^columns +number from "number", lat from "lat", lng from "lng"/m)
  t.match(out, /^ *\+9991 +1\.0000000 +2\.0000000 +a$/m)
  t.match(out, /^ {2}LatOutOfRange 1: /m)
  t.notMatch(out, /9993/, 'a row that is rejected is not shown')
  const geometry = { type: 'Point', coordinates: [2, 1] }
  const feature = { type: 'Feature', geometry, properties: { phone: '+9991' } }
  write('one.geojson', JSON.stringify(feature))
  const ofPoints = await run(...source, join(data, 'one.geojson'), '--dry-run')
  t.match(ofPoints.out, /^columns +number from "phone", position from the geometry, no contact/m)
  rmSync(join(data, 'one.geojson'))
  t.notMatch((await run(...args, '--dry-run', '1')).out, /9992/)
  const first = await run(...source, '--dry-run', join(data, 'one.csv'))
  t.match(first, { exitCode: 0, out: /9992/ }, 'the file may stand behind --dry-run')
  t.equal((await run(...args, '--dry-run', String(limits.previewRowCount))).exitCode, 0)
  t.equal((await run(...args, '--dry-run', String(limits.previewRowCount + 1))).exitCode, 2)
  t.match(await run(...args, '--dry-run', '--strict'), { exitCode: 5, out: /9991/ })
  t.same(fingerprint(data), before)

  write('two.csv', ALL_BAD)
  writeSources(one, two, { ...two, id: 3, files: ['two.csv'] })
  const all = await run('--all', '--dry-run', '--max-rejected', '50%')
  t.match(all, { exitCode: 5, message: /1 of 3 sources could not be published/ })
  t.match(all.out, /^ +2 +Two +4 +2 +2 +could be$/m)
  t.notOk(existsSync(join(data, 'CURRENT')))
})

t.test('a text of a source cannot change the terminal', async (t) => {
  const { data, write, run } = place(t)
  write('one.csv', `${HEADER}+9991,1,2,\u001b[2Ja\u202eb\n`)
  const { out } = await run('--source', '1', '--label', 'x', '--dry-run', join(data, 'one.csv'))
  t.match(out, String.raw`\u{1b}[2Ja\u{202e}b`)
  t.notOk(out.includes('\u001b') || out.includes('\u202e'))
})

t.test('a list that is wrong is refused with the place and the value', async (t) => {
  const { data, write, writeSources, run } = place(t)
  const from = { id: 1, label: 'x', query: 'select 1' }
  const cases: [sources: object[], message: RegExp][] = [
    [[], /\/sources must not be empty/],
    [[{ ...one, id: -1 }], /\/sources\/0\/id must be >= 0, not -1/],
    [[{ ...one, id: '1' }], /\/sources\/0\/id must be a whole number, not "1"/],
    [[one, one], /\/sources\/1\/id 1 is the id of another source/],
    [[{ ...one, format: 'CSV' }], /\/sources\/0\/format must be one of csv, .*, not "CSV"/],
    [[{ ...one, file: 'x' }], /\/sources\/0\/file is not known$/],
    [[{ ...one, columns: { phone: 'x' } }], /\/sources\/0\/columns\/phone is not known$/],
    [[{ ...one, label: 'two\nlines' }], /\/sources\/0\/label needs a text/],
    [[{ ...one, files: [] }], /\/sources\/0\/files must not be empty/],
    [[{ ...one, files: ['-'] }], /\/sources\/0\/files\/0 must be a file/],
    [[{ id: 1, label: 'x' }], /\/sources\/0 needs either "files" or "from"/],
    [[{ ...one, from: 'postgres://h/d', query: 'select 1' }], /needs either "files" or "from"/],
    [[{ id: 1, from: 'postgres://h/d' }], /\/sources\/0 has "from" and needs "query"/],
    [[{ ...from, from: 'mysql://u:secret@h' }], /\/sources\/0\/from the address/],
    [[{ ...from, from: `postgres://\${HICKORY_TEST_NONE}@h` }], /HICKORY_TEST_NONE is not set/],
    [[{ id: 3, files: ['one.csv'] }], /source 3 is new/],
  ]
  for (const [sources, message] of cases) {
    writeSources(...sources)
    const result = await run('--all')
    t.match(result, { exitCode: 2, message })
    t.notMatch(result.message, 'secret')
  }
  write('sources.json', '{"sources":\n [{"from": "postgres://u:secret@h",,}]}')
  t.match(await run('--all'), { exitCode: 2, message: /sources\.json is not JSON in line 2$/ })
  write('sources.json', ' '.repeat(limits.sourcesFileBytes + 1))
  t.match(await run('--all'), { exitCode: 2, message: /has more than/ })
  t.match(await run('--all', join(data, 'none.json')), {
    exitCode: 2,
    message: /none\.json does not exist, and --all reads/,
  })
})

t.test('variables stand for what should not be in the list', async (t) => {
  const { writeSources, run } = place(t)
  process.env.HICKORY_TEST_SECRET = 'p@ss/word'
  t.teardown(() => {
    delete process.env.HICKORY_TEST_SECRET
  })
  const from = `postgres://u:\${HICKORY_TEST_SECRET}@127.0.0.1:1/d`
  writeSources({ id: 1, label: 'x', from, query: 'select 1' })
  const { exitCode, message } = await run('--all')
  t.equal(exitCode, 5)
  t.equal(message.includes('postgres://u@127.0.0.1:1/d: nothing listens'), true, message)
})

t.test('flags that do not go together are refused', async (t) => {
  const { data, write, run } = place(t)
  write('one.csv', GOOD)
  const source = ['--source', '1', '--label', 'x']
  const file = join(data, 'one.csv')
  for (const args of [
    ['--all', 'list.json', file],
    [...source, '--keep-going', file],
    [...source, '--query', 'select 1', file],
    [...source, '--from', 'postgres://h/d', '--query', 'select 1', file],
    [...source, '--from', 'postgres://h/d'],
    [...source, '--from', 'postgres://h/d', '--query', 'select 1', '--format', 'csv'],
    [...source, '--from', 'postgres://u:se/cret@h/d', '--query', 'select 1'],
  ]) {
    t.match(await run(...args), { exitCode: 2 }, args.join(' '))
  }
  for (const args of [
    ['--all', '--source', '1'],
    ['--all', '--lat', 'x'],
    [...source, '--format', 'xml', file],
  ]) {
    t.match(await run(...args), { exitCode: 1 }, args.join(' '))
  }
})

t.test('the directory of a list is not a pattern', async (t) => {
  const { data, write, run } = place(t)
  for (const name of ['[p]', 'p']) mkdirSync(join(data, name))
  const list = JSON.stringify({ sources: [{ id: 1, label: 'One', files: ['*.csv'] }] })
  write('[p]/sources.json', list)
  write('[p]/a.csv', GOOD)
  write('p/b.csv', HEADER)
  t.match(await run('--all', join(data, '[p]', 'sources.json')), { exitCode: 0 })
  t.match((await openSnapshot(data)).sources, [{ recipientCount: 2 }])
})

t.test(
  'an address where a file should be is not repeated, as it may hold a password',
  async (t) => {
    const { writeSources, run } = place(t)
    const address = 'postgres://u:secret@h/d'
    for (const files of [address, [address]]) {
      writeSources({ id: 1, label: 'One', files })
      const { exitCode, message, out } = await run('--all')
      t.equal(exitCode, 2)
      t.notMatch(message + out, /secret/)
    }
    for (const path of [address, `${address}?x`]) {
      const { exitCode, message, out } = await run('--source', '1', '--label', 'x', path)
      t.equal(exitCode, 5)
      t.notMatch(message + out, /secret/)
    }
  },
)

t.test('a variable is the whole of a parameter, whatever is in it', async (t) => {
  const { data, writeSources } = place(t)
  const from = 'postgres://h/d?password=$' + '{PW}&options=$' + '{OPTIONS}'
  writeSources({ id: 1, label: 'One', from, query: 'select 1' })
  const environment = { PW: 'a&secret=+%41@#', OPTIONS: '-c x=1' }
  const { sources } = readSourcesFile(join(data, 'sources.json'), environment, silentLog)
  const [{ input }] = sources
  t.match(parseDatabaseUrl('url' in input ? input.url : ''), {
    password: environment.PW,
    options: environment.OPTIONS,
  })
})
