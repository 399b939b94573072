import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import { importCommand } from '../../../src/commands/import/import.js'
import { silentLog } from '../../support/data/snapshots.js'

const HEADER = 'source,file,unit,place,reason,number,lat,lng'
const SOME_BAD = 'number,lat,lng\n+9991,1,2\n+9994,1,2\n+9992,x,2\n+9993,1,2\n'

t.test('the file has every rejected row, and nobody else may read it', async (t) => {
  const { people, rejects, run } = place(t)
  t.match(await run('--source', '7', '--label', 'x', '--rejects', rejects, people), {
    code: undefined,
  })
  t.equal(statSync(rejects).mode & 0o777, 0o600)
  const expected = `7,${people},line,4,LatInvalid,+9992,x,2`
  t.equal(readFileSync(rejects, 'utf8'), `${HEADER}\n${expected}\n`)
})

t.test('a dry run, a failed import and all sources of a list write it as well', async (t) => {
  const { directory, people, rejects, run } = place(t)
  const flags = ['--source', '7', '--label', 'x', '--rejects', rejects]
  await run(...flags, '--dry-run', people)
  t.same(reasonsIn(rejects), ['7 LatInvalid'])
  writeFileSync(rejects, `${HEADER}\nold\n`)
  t.match(await run(...flags, '--strict', people), { code: 'InputRejected' })
  t.same(reasonsIn(rejects), ['7 LatInvalid'])
  writeFileSync(join(directory, 'b.csv'), 'number,lat,lng\n+9991,0,0\n+9992,1,2\n')
  const sources = [
    { id: 1, label: 'A', files: [people] },
    { id: 2, label: 'B', files: ['b.csv'] },
  ]
  writeFileSync(join(directory, 'sources.json'), JSON.stringify({ sources }))
  await run('--all', join(directory, 'sources.json'), '--rejects', rejects)
  t.same(reasonsIn(rejects), ['1 LatInvalid', '2 PositionZero'])
  writeFileSync(people, 'number,lat,lng\n+9991,1,2\n')
  await run(...flags, people)
  t.equal(readFileSync(rejects, 'utf8'), `${HEADER}\n`, 'no rows of an earlier import')
  t.same(
    readdirSync(directory).filter((name) => name.endsWith('.tmp')),
    [],
  )
})

t.test('fields that a spreadsheet would run are marked, others quoted', async (t) => {
  const { people, rejects, run } = place(t)
  const numbers = ['"=1,2"', '@x', '"a""b"', ' +9991', '-']
  writeFileSync(people, `number,lat,lng\n+9991,1,2\n${numbers.map((n) => `${n},91,2\n`).join('')}`)
  await run('--source', '7', '--label', 'x', '--rejects', rejects, people)
  const rows = parse(readFileSync(rejects), { columns: true }) as { number: string }[]
  t.same(
    rows.map(({ number }) => number),
    ["'=1,2", "'@x", 'a"b', ' +9991', '-'],
  )
})

t.test('nothing but an earlier file of the same kind is replaced', async (t) => {
  const { directory, people, rejects, run } = place(t)
  writeFileSync(rejects, 'mine')
  mkdirSync(join(directory, 'sub'))
  symlinkSync(people, join(directory, 'link.csv'))
  const cases: [path: string, message: RegExp][] = [
    [rejects, /exists and was not written by --rejects/],
    [people, /is also to be read/],
    [join(directory, 'link.csv'), /is also to be read/],
    [join(directory, 'sub'), /is not a file/],
    [join(directory, 'none', 'a.csv'), /cannot be written: its directory does not exist/],
    ['-', /needs a file/],
  ]
  for (const [path, message] of cases) {
    const failure = await run('--source', '7', '--label', 'x', '--rejects', path, people)
    t.match(failure, { code: 'Usage', message }, path)
  }
  t.equal(readFileSync(rejects, 'utf8'), 'mine')
  t.equal(readFileSync(people, 'utf8'), SOME_BAD)
  t.notOk(readdirSync(directory).some((name) => name.endsWith('.tmp')))
})

function place(t: Test) {
  const directory = t.testdir({ 'people.csv': SOME_BAD })
  const people = join(directory, 'people.csv')
  const data = join(dirname(people), 'data')
  mkdirSync(data)
  return {
    directory,
    people,
    rejects: join(directory, 'rejects.csv'),
    async run(...args: string[]): Promise<{ code?: string; message?: string }> {
      const written = t.capture(process.stdout, 'write', () => true)
      const command = importCommand({ dataDirectory: () => data, log: silentLog })
      try {
        await command.parseAsync(['--max-rejected', '100%', ...args], { from: 'user' })
        return {}
      } catch (error) {
        return error as Error
      } finally {
        written.restore()
      }
    },
  }
}

function reasonsIn(path: string): string[] {
  const rows = parse(readFileSync(path), { columns: true }) as { source: string; reason: string }[]
  return rows.map(({ source, reason }) => `${source} ${reason}`)
}
