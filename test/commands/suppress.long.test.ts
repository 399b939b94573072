/**
 * `hickory suppress`: files onto suppression lists and off them, with counts and exit codes.
 *
 * @module
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { Scope } from '../../src/store/suppressions.js'
import { phonesOn } from '../support/data/store.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

function world(t: Test) {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  mkdirSync(data)
  return {
    file(name: string, content: string | Buffer): string {
      const path = join(directory, name)
      writeFileSync(path, content)
      return path
    },
    run: (...args: string[]) => hickoryHere('suppress', '--data', data, ...args),
    /** What `--list` prints, read without the check of the store by another process. */
    listed: (scope: Scope = 'all') => phonesOn(data, scope),
  }
}

t.test('a data directory that is not there is not made', async (t) => {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'mistyped')
  const path = join(directory, 'a.txt')
  writeFileSync(path, '+9991\n')
  for (const args of [[path], ['--list'], ['--count']]) {
    const { code, stderr } = await hickoryHere('suppress', '--data', data, ...args)
    t.equal(code, 2)
    t.match(stderr, /mistyped does not exist/)
  }
  t.notOk(existsSync(data))
})

t.test('phones are put on a list, taken off it, or become it', async (t) => {
  const { file, run, listed } = world(t)
  const lines = file('a.txt', '+9991\r\n\r\n+9992\n+9993\n+9991')
  const packed = file('b.csv.gz', gzipSync('\ufeffName;NUMBER\n"Smith; J";+9994\nX;"+9993"\n'))
  const put = await run(lines, packed)
  t.equal(put.code, 0, put.stderr)
  t.match(put.stdout, /^rows read +6\nnumbers +4\nrejected +0\nnew +4\nalready there +0$/m)
  t.same(await listed(), ['+9991', '+9992', '+9993', '+9994'])
  t.match(await run('--list'), { code: 0, stdout: '+9991\n+9992\n+9993\n+9994\n' })

  const more = await run(file('c.csv', 'name,number\n1,+9995\n2,+9991\n'))
  t.match(more.stdout, /^new +1\nalready there +1$/m)
  await run('--source', '3', '--number', 'Phone', file('d.csv', 'a|phone\nx|+9991\n'))
  t.same(await listed(3), ['+9991'])
  t.equal((await run('--list', '--source', '3')).stdout, '+9991\n')
  t.equal((await run('--count')).stdout, 'all sources 5\nsource 3 1\n')

  const removed = await run('--remove', file('e.txt', '+9992\n+9999\n'))
  t.match(removed.stdout, /^taken off +1\nnot there +1$/m)
  const replaced = await run('--replace', file('f.txt', '+9991\n+9997\n'))
  t.match(replaced.stdout, /^new +1\nalready there +1\ntaken off +3$/m)
  t.equal(replaced.code, 0)
  t.same(await listed(), ['+9991', '+9997'])
  t.same(await listed(3), ['+9991'], 'other lists are as they were')
})

t.test('what cannot be a phone is told by its line, and ends with code 5', async (t) => {
  const { file, run, listed } = world(t)
  const long = '9'.repeat(65)
  const path = file(
    'bad.csv',
    Buffer.concat([
      Buffer.from(`number,name\n+9991,a\n,b\n${long},c\n=1,d\n"+9\u00072",e\n+9993\n+9994,f\n+`),
      Buffer.from([0xff]),
      Buffer.from(',g\n'),
    ]),
  )
  const put = await run(path)
  t.equal(put.code, 5)
  t.match(put.stderr, /6 of 8 rows were rejected; the others are stored/)
  for (const [reason, line] of [
    ['NumberEmpty', 3],
    ['NumberTooLong', 4],
    ['NumberFormula', 5],
    ['NumberUnprintable', 6],
    ['FieldCountWrong', 7],
    ['EncodingInvalid', 9],
  ]) {
    t.match(put.stdout, new RegExp(`^  ${reason} 1: .*\\n    .*bad\\.csv:${line}$`, 'm'))
  }
  t.notMatch(put.stdout + put.stderr, /999|\+9/, 'no number is quoted')
  t.same(await listed(), ['+9991', '+9994'])

  const replaced = await run('--replace', path)
  t.equal(replaced.code, 5)
  t.match(replaced.stderr, /nothing was changed/)
  const names = await run(file('names.csv', '+9995,Smith\n'))
  t.match(names.stdout, /FieldCountWrong 1/, 'columns need a header')
  t.same(await listed(), ['+9991', '+9994'])
})

t.test('--normalize writes numbers as E.164, and says how many changed', async (t) => {
  const { file, run, listed } = world(t)
  const lines = [
    '(555) 555-0101',
    '+15555550102',
    '555.555.0101',
    '15555550103.0',
    'none',
    '5550101',
  ]
  const put = await run('--normalize', 'e164:US', file('a.txt', lines.join('\n')))
  t.equal(put.code, 5)
  t.match(put.stdout, /^normalized 2 numbers were changed\nnumbers +2\nrejected +3$/m)
  t.match(put.stdout, /NumberDecimal 1: .*\n.*a\.txt:4$/m)
  t.match(put.stdout, /NumberImpossible 2: .*\n.*a\.txt:5, .*a\.txt:6$/m)
  t.same(await listed(), ['+15555550101', '+15555550102'])
  t.equal((await run('--normalize', 'US', file('b.txt', '1'))).code, 2)
})

t.test('a list is not emptied unasked', async (t) => {
  const { file, run, listed } = world(t)
  await run(file('a.txt', '+9991\n'))
  const empty = file('empty.txt', 'number\n')
  const refused = await run('--replace', empty)
  t.equal(refused.code, 5)
  t.match(refused.stderr, /nothing was changed; --allow-empty empties the list/)
  t.same(await listed(), ['+9991'])
  t.equal((await run('--replace', '--allow-empty', empty)).code, 0)
  t.same(await listed(), [])
  t.equal((await run('--count')).stdout, '')
})

t.test('what cannot be read or is not meant is refused, and changes nothing', async (t) => {
  const { file, run } = world(t)
  const good = file('good.txt', '+9991\n')
  const cases: [code: number, message: RegExp, ...args: string[]][] = [
    [5, /nothing-there does not exist/, good, '/nothing-there'],
    [5, /cut\.gz is cut off/, good, file('cut.gz', gzipSync('+9992\n').subarray(0, 15))],
    [5, /quote\.csv, line \d+ has a quotation mark/, good, file('quote.csv', 'number\n"+9992\n')],
    [
      5,
      /wide\.csv.* has a row of more than/,
      file('wide.csv', `number\n"${'9'.repeat(70_000)}"\n`),
    ],
    [5, /a\.zst is not text/, good, file('a.zst', Buffer.from('28b52ffd2403', 'hex'))],
    [5, /utf16\.csv is not text/, good, file('utf16.csv', Buffer.from('+9992\n', 'utf16le'))],
    [5, /plain\.txt has no column "msisdn"/, '--number', 'msisdn', file('plain.txt', '+9992\n')],
    [5, /has no column ""/, '--number', '', good],
    [2, /give a FILE, or -/],
    [2, /--source is an integer/, '--source', 'x', good],
    [2, /give one of --remove/, '--remove', '--replace', good],
    [2, /read no FILE/, '--list', good],
  ]
  for (const [code, message, ...args] of cases) {
    const run1 = await run(...args)
    t.equal(run1.code, code, run1.stderr)
    t.match(run1.stderr, message)
    t.notMatch(run1.stderr, /999/)
  }
  t.match(await run('--list'), { code: 0, stdout: '' })
})

t.test('--help has examples', async (t) => {
  const { stdout } = await hickoryHere('suppress', '--help')
  t.match(stdout, /\$ hickory suppress --data \.\/data\/local --source 1 --replace/)
})
