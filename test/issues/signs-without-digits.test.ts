/**
 * A number of a CSV file that is a sign with a space behind it was accepted: DuckDB casts it to 0. From PostgreSQL it was
 * rejected. The soak's comparison of both found it.
 */
import t from 'tap'
import { readRows } from '../support/data/read-files.js'

t.test('a sign is no number, whatever white space is around it', async (t) => {
  const numbers = ['- ', ' -', ' - ', '-', '+ ', ' + ', '-  ', '-\u00a0', ' ', '_', '- _']
  const zeros = ['-0', ' 0 ', '00', '- 0']
  const rows = [...numbers, ...zeros].map((number) => `"${number}",29.7,-95.3`)
  const file = `${t.testdir({ 'signs.csv': `number,lat,lng\n${rows.join('\n')}\n` })}/signs.csv`
  const result = await readRows([file])
  t.same(result.phones, [])
  t.same(
    result.rejects.map(({ reason, count }) => [reason, count]),
    [
      ['NumberEmpty', 1],
      ['NumberWithoutDigits', numbers.length - 1],
      ['NumberZero', zeros.length],
    ],
  )
})
