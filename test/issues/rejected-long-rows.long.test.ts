/**
 * One row that was rejected and had a line end in a field refused the whole file, with the advice to
 * close a quotation mark that was closed. Addresses of several lines are usual, and so are a few rows
 * without a position. A line end in a contact did the same.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import type { FilesInput } from '../../src/sources/files/read-files.js'
import { readRows, rejectedLines } from '../support/data/read-files.js'

const HEADER = 'number,lat,lng,contact,note'
const GOOD = '+9990,1,2,c,"of two\nlines"'

const CASES: [name: string, row: string, reason: string][] = [
  ['no position', '+9991,,,c,"2 Main St\nHouston"', 'LatMissing'],
  ['several fields', '+9991,x,2,"a\n\nb","c\nd, e\n"', 'LatInvalid'],
  ['a doubled mark', '+9991,1,,c,"""Suite 5""\nFloor 2"', 'LngMissing'],
  ['the number', '"+999\n1",1,2,c,n', 'NumberUnprintable'],
  ['the latitude', '+9991,"1\n",2,c,n', 'LatInvalid'],
  ['the longitude', '+9991,1,"\n2",c,n', 'LngInvalid'],
  [
    'a contact that is long',
    `+9991,1,2,"a\n${'b'.repeat(limits.contactBytes)}",n`,
    'ContactTooLong',
  ],
  ['too few fields', '+9991,1,"a\nb"', 'FieldCountWrong'],
  ['too many fields', '+9991,1,2,c,"a\nb",n', 'FieldCountWrong'],
  ['a record that is long', `+9991,1,2,c,"a\n${'b'.repeat(limits.recordBytes)}"`, 'RecordTooLong'],
  ['blanks around', '+9991,,2,c, "a\nb" ', 'LatMissing'],
]

for (const [name, row, reason] of CASES) {
  t.test(`a rejected row of several lines is one rejected row: ${name}`, async (t) => {
    const content = [HEADER, row, GOOD, '+9992,1,2,c,n', row, '', GOOD, row].join('\n')
    const lines = [0, 1, 2].map((at) => placeOf(content, row, at))
    const found = await read(t, content)
    t.same(found.phones, ['+9990', '+9992', '+9990'])
    t.same(rejectedLines(found), { [reason]: lines })
    t.equal(found.furtherLineCount, 2)
  })
}

t.test('so it is with other line ends and delimiters', async (t) => {
  const content = [HEADER, ...CASES.flatMap(([, row]) => [row, GOOD])].join('\n')
  const lines: Record<string, number[]> = {}
  let line = 2
  for (const [, row, reason] of CASES) {
    lines[reason] = [...(lines[reason] ?? []), line]
    line += `${row}\n${GOOD}`.split('\n').length
  }
  for (const text of [content.replaceAll('\n', '\r\n'), content.replaceAll(',', ';')]) {
    const found = await read(t, text)
    t.equal(found.phones.length, CASES.length)
    t.same(rejectedLines(found), lines)
  }
})

t.test('other line ends within a field, another encoding and a key that is repeated', async (t) => {
  const excel = await read(t, `${HEADER}\r\n+9991,,2,c,"a\nb\rc"\r\n+9992,1,2,c,n\r\n`)
  t.same([excel.phones, rejectedLines(excel)], [['+9992'], { LatMissing: [2] }])
  const bytes = Buffer.from(`${HEADER}\n+9991,1,2,c,"a\n\xff"\n+9992,1,2,c,n\n`, 'latin1')
  const latin = await read(t, bytes)
  t.same([latin.phones, rejectedLines(latin)], [['+9992'], { EncodingInvalid: [2] }])
  const repeated = `${HEADER}\n+9991,1,2,c,n\n+9992,1,2,c,"a\nb"\n+9993,1,2,d,n\n`
  const { phones, ...keyed } = await read(t, repeated, { columns: { key: 'contact' } })
  t.same([phones, rejectedLines(keyed)], [['+9991', '+9993'], { KeyRepeated: [3] }])
  const packed = await read(t, gzipSync(`${HEADER}\n+9991,,2,c,"a\nb"\n+9992,1,2,c,n\n`))
  t.same([packed.phones, rejectedLines(packed)], [['+9992'], { LatMissing: [2] }])
})

t.test('a contact may have line ends, too', async (t) => {
  const { contacts, furtherLineCount } = await read(t, `${HEADER}\n+9991,1,2,"a\nb",n\n`)
  t.same([contacts, furtherLineCount], [['a\nb'], 1])
})

t.test('a row that may hold others refuses the file, and the message says why', async (t) => {
  const swallowing = [
    '+9991,,2,c,"open\n+9992,1,2,c,n\n+9993,1,2,c,closed"',
    '+9991,1,2,"open\n+9992,1,2,c,n\n+9993,1,2",n',
    '+9991,,"open,c,n\n+9992,1,2",c,n',
    '+9991,,2,c,5" pipe,"a\nb"',
  ]
  for (const rows of swallowing) {
    await t.rejects(read(t, `${HEADER}\n${rows}\n`), {
      code: 'InputRejected',
      message:
        /csv:2, is a quotation mark .* goes on to line [34], .* looks like other rows: close/,
    })
  }
  await t.rejects(read(t, `${HEADER}\n+9991,,2,c,"open\n+9992,1,2,c,"n"\n`), {
    message: /csv:2, .* goes on to line 3, and is not closed in front of a delimiter or line end/,
  })
})

function placeOf(content: string, row: string, nth: number): number {
  const lines = content
    .split(row)
    .slice(0, nth + 1)
    .join(row)
    .split('\n')
  return lines.length
}

function read(t: Test, content: string | Uint8Array, input: Partial<FilesInput> = {}) {
  const path = join(t.testdir({}), typeof content === 'string' ? 'r.csv' : 'r.csv.gz')
  writeFileSync(path, content)
  return readRows([path], input)
}
