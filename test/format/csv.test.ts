/**
 * Tables: what is in them is read back the same.
 *
 * @module
 */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { csvRecord, csvTable } from '../../src/format/csv.js'
import { writeJsv } from '../../src/format/jsv.js'
import { testSeed } from '../support/random/properties.js'

t.test('a table has a header and a row each, every line ended by CRLF', async (t) => {
  t.equal(
    csvTable(
      ['Title', 'Url', 'ThumbnailUrl'],
      [{ Title: 'T', Url: 'http://x/y?a=1&b=2', Other: 1 }],
    ),
    'Title,Url,ThumbnailUrl\r\nT,http://x/y?a=1&b=2,\r\n',
  )
  t.equal(csvTable(['A', 'B'], []), 'A,B\r\n')
  const record = csvRecord(['A', 'B'], { B: [1], A: 'x' })
  t.same(record, { header: 'A,B\r\n', row: 'x,"[1]"\r\n' })
})

t.test('cells are written by their kind', async (t) => {
  const cases: [value: unknown, cell: string][] = [
    ['a, "b"', '"a, ""b"""'],
    [' lead', ' lead'],
    ['', ''],
    [null, ''],
    [undefined, ''],
    [Number.NaN, ''],
    [Number.NEGATIVE_INFINITY, ''],
    [-1.5, '-1.5'],
    [1e21, '1e+21'],
    [true, 'True'],
    [false, 'False'],
    [[], '"[]"'],
    [{}, '"{}"'],
    ['=1+1', "'=1+1"],
    ['+999', "'+999"],
    ['-a', "'-a"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['\ra', '"\'\ra"'],
    ['[a]', '"[a]"'],
    [['=1+1', '+999'], '"[=1+1,+999]"'],
    [[{ Label: 'Home', Count: 2 }], '"[{Label:Home,Count:2}]"'],
    [{ Number: '+999 22,33' }, '"{Number:""+999 22,33""}"'],
    [
      { type: 'polygon', rings: [[[1.5, 2]]], spatialReference: { wkid: 102100 } },
      '"{type:polygon,rings:[[[1.5,2]]],spatialReference:{wkid:102100}}"',
    ],
  ]
  for (const [value, cell] of cases) t.equal(csvTable(['A'], [{ A: value }]), `A\r\n${cell}\r\n`)
})

t.test('a reader of CSV gets the same texts back', async (t) => {
  const columns = ['A', 'B']
  const cells = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'",[{=+@\r\na ') }),
    fc.array(fc.string({ unit: fc.constantFrom(...'",[{=\r\na ') })),
  )
  const rowsOf = fc.array(fc.record({ A: cells, B: cells }))
  const property = fc.property(rowsOf, (rows) => {
    const read = parse(csvTable(columns, rows), { columns: true, record_delimiter: '\r\n' })
    t.same(
      read,
      rows.map(({ A, B }) => ({ A: expected(A), B: expected(B) })),
    )
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 500 })
})

function expected(value: string | string[]): string {
  if (typeof value !== 'string') return writeJsv(value)
  return /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value
}
