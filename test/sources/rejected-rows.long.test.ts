import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { ColumnNames } from '../../src/sources/batch.js'
import { RejectedTexts, type RowTexts } from '../../src/sources/rows/rejected-texts.js'
import { readRows, rejectedRows } from '../support/data/read-files.js'
import { writeEveryFormat } from '../support/data/recipient-files.js'
import { testSeed } from '../support/random/properties.js'

type Row = [place: number, reason: string, phone: string, lat: string, lng: string]

t.test('every rejected row comes in order, with its texts as they were read', async (t) => {
  const content = [
    'number,lat,lng,contact,id',
    '+9991,1,2,c,a',
    '"#N/A",01.50,"2,0",c,b',
    '+9992,1,2',
    '',
    '9.99E+11, 91 ,abc,c,c',
    '"say ""x""",,0x10,c,d',
    '+9993,1,2,c,a',
    `+9994,0.0,-0,c,e`,
    '"+999"5,1,2,c,f',
    '+9996,1,2,c,g',
  ].join('\r\n')
  const { rejected } = await rejectedOf(t, 'a.csv', content, { key: 'id' })
  t.same(rejected, [
    [3, 'NumberErrorCell', '#N/A', '01.50', '2,0'],
    [4, 'FieldCountWrong', '', '', ''],
    [6, 'NumberDecimal', '9.99E+11', ' 91 ', 'abc'],
    [7, 'NumberLetters', 'say "x"', '', '0x10'],
    [8, 'KeyRepeated', '+9993', '1', '2'],
    [9, 'PositionZero', '+9994', '0.0', '-0'],
    [10, 'QuoteMalformed', '', '', ''],
  ])
})

t.test('a file that is read twice gives each row once', async (t) => {
  // The control character is found by the survey, when the rows were read already.
  const row = (index: number) =>
    index % 1_000 === 7 ? `+999${index},x${index},2,a\tb\n` : `+999${index},1,2,${'c'.repeat(80)}\n`
  const rows = Array.from({ length: 15_000 }, (_, index) => row(index))
  const { rejected } = await rejectedOf(t, 'a.csv', `number,lat,lng,contact\n${rows.join('')}`)
  t.equal(rejected.length, 15)
  t.same(rejected[0], [9, 'LatInvalid', '+9997', 'x7', '2'])
  t.same(rejected[14], [14_009, 'LatInvalid', '+99914007', 'x14007', '2'])
})

t.test('the texts are those of every format, and so is the map', async (t) => {
  const directory = t.testdir({})
  const rows = [
    { number: '+9990', lat: 1.5, lng: 2.5, contact: 'c' },
    { number: 'none', lat: 1.52, lng: 2.58, contact: 'c' },
    { number: 'none', lat: 1.91, lng: 2.5, contact: 'c' },
    { number: '+9990', lat: 1.5, lng: 2.5, contact: 'c'.repeat(200) },
    { number: 'none', lat: 91, lng: 2.5, contact: 'c' },
    { number: '+9990', lat: 90.5, lng: 2.5, contact: 'c' },
    { number: '+9990', lat: 0, lng: 0, contact: 'c' },
    { number: 'none', lat: 0, lng: 0, contact: 'c' },
  ]
  const names = await writeEveryFormat(directory, rows)
  // Each format, and each packing once: that makes other bytes, and the same rows of them.
  const chosen = names.filter((name) => name.startsWith('rows.csv') || !/\.(gz|zst)$/.test(name))
  for (const name of chosen) {
    const { read, rejected } = await rejectedIn(t, join(directory, name))
    const texts = rejected.map(([, reason, phone, lat, lng]) => [reason, phone, +lat, +lng])
    t.same(
      texts,
      [
        ['NumberLetters', 'none', 1.52, 2.58],
        ['NumberLetters', 'none', 1.91, 2.5],
        ['ContactTooLong', '+9990', 1.5, 2.5],
        ['NumberLetters', 'none', 91, 2.5],
        ['LatOutOfRange', '+9990', 90.5, 2.5],
        ['PositionZero', '+9990', 0, 0],
        ['NumberLetters', 'none', 0, 0],
      ],
      name,
    )
    const box = { minLng: 2.5e7, minLat: 1.5e7, maxLng: 2.6e7, maxLat: 2e7 }
    const counts = new Uint32Array([1, 0, 0, 0, 2])
    t.same(read.rejectedMap, { box, columnCount: 1, rowCount: 5, counts }, name)
  }
})

t.test('the map has rows that are rejected late, and none that could not be read', async (t) => {
  const csv = ['id,number,lat,lng', 'a,+9991,1,2', 'a,+9992,3,4', 'b,none,"5\n",6', 'c,+9993,7']
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, csv.join('\n'))
  const { rejectedMap } = await readRows([path], { columns: { key: 'id' } })
  t.match(rejectedMap, { box: { minLng: 4e7, minLat: 3e7 }, counts: new Uint32Array([1]) })
  const position = Buffer.from(new Float64Array([1, 2]).buffer).toString('hex')
  // A point in another coordinate system, a line, and a point.
  const points = ['0101000020110f0000', '010200000001000000', '0101000000']
  writeFileSync(path, `number,geom\n${points.map((head) => `none,${head}${position}\n`).join('')}`)
  const read = await readRows([path])
  t.match(read.rejectedMap, { box: { minLng: 1e7, minLat: 2e7 }, counts: new Uint32Array([1]) })
})

t.test('texts of any length come back, and leave nothing behind', async (t) => {
  const directory = join(t.testdir({}), 'spool')
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 5 }),
    fc.integer({ min: 0, max: 300_000 }).map((count) => 'é'.repeat(count)),
  )
  const row = fc.record({ phone: text, lat: text, lng: text })
  const rounds = fc.array(fc.array(row, { maxLength: 6 }), { maxLength: 3 })
  const property = fc.property(rounds, (rounds) => {
    const texts = new RejectedTexts(directory)
    try {
      for (const rows of rounds) {
        texts.restart()
        for (const row of rows) addRow(texts, row)
        for (const row of rows) t.same(texts.next(), row)
      }
      for (const name of existsSync(directory) ? readdirSync(directory) : []) {
        t.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
      }
    } finally {
      texts.remove()
    }
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 30 })
  t.same(readdirSync(directory), [])
})

function addRow(texts: RejectedTexts, { phone, lat, lng }: RowTexts): void {
  for (const text of [phone, lat, lng]) {
    const bytes = Buffer.from(`-${text}-`)
    texts.add(bytes, 1, bytes.length - 1)
  }
}

function rejectedOf(t: Test, name: string, content: string, columns?: ColumnNames) {
  const path = join(t.testdir({}), name)
  writeFileSync(path, content)
  return rejectedIn(t, path, columns)
}

async function rejectedIn(t: Test, path: string, columns: ColumnNames = {}) {
  const spoolDirectory = join(path, '..', 'spool')
  const { read, rejected } = await rejectedRows([path], { columns, spoolDirectory })
  t.equal(read.rejectedCount, rejected.length)
  t.same(existsSync(spoolDirectory) ? readdirSync(spoolDirectory) : [], [])
  const rows = rejected.map(
    ({ line, reason, phone, lat, lng }): Row => [line, reason, phone, lat, lng],
  )
  return { read, rejected: rows }
}
