import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import { inputPaths } from '../../../src/sources/files/input-paths.js'
import { Spool } from '../../../src/sources/files/spool.js'
import { readRows } from '../../support/data/read-files.js'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))
const CSV = 'number,lat,lng\n+9991,1,2\n'

t.test('a pattern means the files that match it, by name', async (t) => {
  const directory = t.testdir({ 'b.csv': CSV, 'a.csv': CSV, 'a.txt': '', sub: { 'c.csv': CSV } })
  const paths = async (...patterns: string[]) =>
    (await inputPaths(patterns.map((pattern) => join(directory, pattern)))).map((path) =>
      path.slice(directory.length + 1),
    )
  t.same(await paths('*.csv'), ['a.csv', 'b.csv'])
  t.same(await paths('b.csv', 'a.csv'), ['b.csv', 'a.csv'])
  await t.rejects(paths('b.csv', '*.csv'), { code: 'Usage', message: /b\.csv is .* twice/ })
  await t.rejects(paths('a.csv', './a.csv'), { code: 'Usage', message: /a\.csv is .* twice/ })
  t.same(await paths('[b-z].csv', 'sub/?.csv'), ['b.csv', 'sub/c.csv'])
  t.same(await paths('**/*.csv'), ['a.csv', 'b.csv', 'sub/c.csv'])
  await t.rejects(paths('*.parquet'), { code: 'InputRejected', message: /no file matches/ })
  await t.rejects(inputPaths(['https://x/*.csv']), { code: 'InputRejected', message: /not a file/ })
})

t.test('a file that is there is no pattern', async (t) => {
  const directory = t.testdir({ '[a].csv': CSV, 'a.csv': CSV })
  const path = join(directory, '[a].csv')
  t.same(await inputPaths([path]), [path])
})

t.test('a source has files up to its limit, and not one more', async (t) => {
  const paths = Array.from({ length: limits.sourceFileCount }, (_, index) => `${index}.csv`)
  t.equal((await inputPaths(paths)).length, limits.sourceFileCount)
  await t.rejects(inputPaths([...paths, 'x.csv']), { code: 'InputRejected' })
})

t.test('a directory is refused with what to write instead', async (t) => {
  const directory = t.testdir({ sub: {} })
  const message = /sub is a directory: .*sub\/\*\.csv/
  await t.rejects(readRows([join(directory, 'sub')]), { code: 'InputRejected', message })
})

t.test('standard input is read once, whatever its format', async (t) => {
  await t.rejects(inputPaths(['-', '-']), { code: 'Usage' })
  const data = t.testdir({})
  const printed = execFileSync(
    process.execPath,
    [cli, 'import', '--data', data, '--source=1', '--label=One', '--max-rejected=50%', '-'],
    { input: '{"phone":"+9991","lat":1,"lon":2}\n{"phone":"","lat":1,"lon":2}\n', stdio: 'pipe' },
  ).toString()
  t.match(printed, /accepted +1\n/)
  t.match(printed, /input:2/)
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  t.notOk(
    names.some((name) => name.endsWith('.tmp')),
    'nothing is left of it',
  )
})

t.test('what is spooled is readable by its owner alone, and gone afterwards', async (t) => {
  const directory = join(t.testdir({}), 'spool')
  const spool = new Spool(directory)
  const path = await spool.write(Readable.from([Buffer.from('a'), Buffer.from('b')]))
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(path).size, 2)
  spool.remove()
  t.same(readdirSync(directory), [])
  spool.remove()
})

t.test('files of several formats are one source', async (t) => {
  const directory = t.testdir({})
  mkdirSync(join(directory, 'x'))
  writeFileSync(join(directory, 'x', 'a'), CSV)
  writeFileSync(join(directory, 'x', 'b'), '{"number":"+9992","lat":1,"lng":2}\n')
  writeFileSync(join(directory, 'x', 'c'), '{"type":"FeatureCollection","features":[]}')
  const { phones } = await readRows([join(directory, 'x', '*')])
  t.same(phones, ['+9991', '+9992'])
})
