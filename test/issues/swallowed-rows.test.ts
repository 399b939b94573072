import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readRows } from '../support/data/read-files.js'

/** A rejected row took good ones with it, in a quoted field of a column that is ignored. */
t.test('a rejected row that holds others refuses the file', async (t) => {
  const rows = ['+9991,1,2,n', '+9995,"","","', '+9996,19.5,56,n', '+9997,', '-,1"', '+9998,1,2,n']
  await t.rejects(read(t, rows), { code: 'InputRejected', message: /csv:3, is a quotation mark/ })
})

t.test('an accepted row may go over several lines, and these are counted', async (t) => {
  const { acceptedCount, furtherLineCount } = await read(t, [
    '+9991,1,2,"a',
    'b',
    'c"',
    '+9992,1,2,n',
  ])
  t.equal(acceptedCount, 2)
  t.equal(furtherLineCount, 2)
})

function read(t: Test, rows: readonly string[]) {
  const path = join(t.testdir({}), 'r.csv')
  writeFileSync(path, `number,lat,lng,note\n${rows.join('\n')}\n`)
  return readRows([path])
}
