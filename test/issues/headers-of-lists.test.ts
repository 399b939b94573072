/**
 * `suppress` took a header that an import knows, such as `Phone Number`, for a number, and so any word. `keys list` showed
 * 0 rows for a key whose rows are not counted.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { phonesOn } from '../support/data/store.js'
import { hickoryHere } from '../support/service/command-line.js'

t.test('a list may have each header that an import knows', async (t) => {
  const data = t.testdir({})
  const path = join(data, 'list.csv')
  const run = (...flags: string[]) => hickoryHere('suppress', '--data', data, ...flags, path)
  const headers = [
    'Phone Number',
    'phone',
    'msisdn',
    'Tel',
    'MOBILE',
    '"Phone-No"',
    'NUMBER',
    'e164',
  ]
  for (const [index, header] of headers.entries()) {
    writeFileSync(path, `${header}\n+999555010${index}\n`)
    t.match(await run(), { code: 0, stdout: /^numbers +1$/m }, header)
  }
  t.equal((await phonesOn(data, 'all')).length, headers.length)
  writeFileSync(path, 'phone,mobile\n+9995550197,+9995550196\n')
  t.match(await run(), { code: 5, stderr: /"phone" and "mobile".*--number/ })
  t.equal((await run('--number', 'mobile')).code, 0)
})

t.test('words are no numbers, and can be taken off a list', async (t) => {
  const data = t.testdir({})
  const path = join(data, 'list.txt')
  writeFileSync(path, '+9995550101\nabc\n-\nПривет\n')
  const put = await hickoryHere('suppress', '--data', data, path)
  t.equal(put.code, 5)
  t.match(put.stdout, /NumberWithoutDigits 3: .*\n.*list\.txt:2, .*:3, .*:4$/m)
  t.same(await phonesOn(data, 'all'), ['+9995550101'])
  const removed = await hickoryHere('suppress', '--data', data, '--remove', path)
  t.match(removed, { code: 0, stdout: /^not there +3$/m })
})

t.test('rows that are not counted are not shown as none', async (t) => {
  const data = t.testdir({})
  const keys = (...args: string[]) => hickoryHere('keys', ...args, '--data', data)
  await keys('create', '--name', 'free', '--scopes', 'lists')
  await keys('create', '--name', 'bounded', '--scopes', 'lists', '--rows-per-day', '9')
  const { stdout } = await keys('list')
  const [header, bounded, free] = stdout.split('\n')
  const at = header.indexOf('ROWS TODAY')
  t.equal(bounded[at], '0', stdout)
  t.equal(free[at], '-')
})
