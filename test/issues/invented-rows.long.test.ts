/**
 * DuckDB reads a large file in pieces at the same time. Where a quoted field began on the line that
 * crosses the end of a piece and went on over several lines, the next piece took the lines within it
 * for records. There were as many records as lines, and nothing was rejected.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { readRows } from '../support/data/read-files.js'

const PIECE_BYTES = 8_000_000

for (const delimiter of [',', '\t']) {
  t.test(`lines within a field are no rows (${JSON.stringify(delimiter)})`, async (t) => {
    const directory = t.testdir({})
    const content = fileAround(delimiter)
    writeFileSync(join(directory, 'plain.csv'), content)
    // Read in order.
    writeFileSync(join(directory, 'packed.csv.gz'), gzipSync(content, { level: 1 }))
    const plain = await readRows([join(directory, 'plain.csv')])
    t.equal(plain.acceptedCount, 399_996)
    t.equal(plain.furtherLineCount, 4)
    const packed = await readRows([join(directory, 'packed.csv.gz')])
    t.ok(plain.phones.every((phone, at) => phone === packed.phones[at]))
    const contact = { columns: { contact: 'note' } }
    for (const name of ['plain.csv', 'packed.csv.gz']) {
      await t.rejects(readRows([join(directory, name)], contact), { code: 'InputRejected' })
    }
  })
}

function fileAround(delimiter: string): string {
  let count = 0
  const row = (note: string) =>
    `${[10_000_000_000 + count++, '12.5', '13.5', note].join(delimiter)}\n`
  const rows = [`${['number', 'lat', 'lng', 'note'].join(delimiter)}\n`]
  let bytes = rows[0].length
  const put = (text: string) => {
    rows.push(text)
    bytes += text.length
  }
  while (bytes + 85 < PIECE_BYTES) put(row('xxxxxxx'))
  put(row('x'.repeat(PIECE_BYTES - 52 - bytes)))
  // Ends six bytes behind the end of the piece.
  put(row('"aaaaaaaaaa'))
  for (let line = 0; line < 3; line++) put(row('yyyyy'))
  put(row('a"'))
  while (count < 400_000) put(row('xxxxxxx'))
  return rows.join('')
}
