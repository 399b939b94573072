import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readRows, rejectedLines, rejectedRows } from '../support/data/read-files.js'
import { runSql, type WrittenRow, writeEveryFormat } from '../support/data/recipient-files.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const text = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom(
      '+',
      '9',
      '0',
      ' ',
      ',',
      ';',
      '"',
      'é',
      '😀',
      'x',
      '=',
      '\\',
      '{',
      ']',
      '¿',
    ),
    maxLength,
  })
const degrees = (max: number) =>
  fc.oneof(
    fc.integer({ min: -max * 1e7, max: max * 1e7 }).map((units) => units / 1e7),
    fc.constantFrom(null, max, -max, max + 0.1, -400, 0, -0, 1e-9),
  )
const row: fc.Arbitrary<WrittenRow> = fc.record({
  number: fc.oneof(
    { weight: 5, arbitrary: text(30).map((tail) => `+999${tail}`) },
    text(70),
    fc.constantFrom(null, '', ' ', '9'.repeat(64), '9'.repeat(65)),
  ),
  lat: degrees(90),
  lng: degrees(180),
  contact: fc.oneof(text(40), fc.constantFrom(null, '', ' \u3000', 'c'.repeat(129))),
})

t.test('the same rows in every format are read as the same', async (t) => {
  const seed = testSeed(t)
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 5, maxLength: 60 }), async (random) => {
      // The names of members of JSON are learned from rows that have them.
      const rows = [{ number: '+9990', lat: 1.5, lng: 2.5, contact: 'first' }, ...random]
      const directory = t.testdir({})
      const names = await writeEveryFormat(directory, rows)
      const expected = await readRows([join(directory, 'rows.csv')])
      t.equal(expected.rowCount, rows.length)
      for (const name of names) {
        const { rejects, ...read } = await readRows([join(directory, name)])
        t.same({ ...read, rejects: [] }, { ...expected, rejects: [] }, name)
        const isText = name.startsWith('rows.csv')
        const lines = Object.entries(rejectedLines({ ...read, rejects }))
        t.same(
          Object.fromEntries(
            lines.map(([reason, at]) => [reason, at.map((n) => n + (isText ? 0 : 1))]),
          ),
          rejectedLines(expected),
          name,
        )
      }
    }),
    { seed, numRuns: byTier({ ci: 1, soak: 8 }) },
  )
})

t.test('each line of NDJSON that cannot be used has a reason', async (t) => {
  const cases: [line: string, reason: string][] = [
    ['{"number":"+9991","lat":1,"lng":2', 'JsonInvalid'],
    ['"number"', 'JsonInvalid'],
    ['[1,2]', 'JsonInvalid'],
    ['null', 'JsonInvalid'],
    [' ', 'JsonInvalid'],
    ['{"number":"a\tb","lat":1,"lng":2}', 'JsonInvalid'],
    ['{"number":"\x1f","lat":1,"lng":2}', 'JsonInvalid'],
    [`${'['.repeat(30_000)}`, 'JsonInvalid'],
    ['{}', 'NumberEmpty'],
    ['{"number":null,"lat":1,"lng":2}', 'NumberEmpty'],
    ['{"number":{"a":1},"lat":1,"lng":2}', 'NumberInvalid'],
    ['{"number":[1],"lat":1,"lng":2}', 'NumberInvalid'],
    ['{"number":true,"lat":1,"lng":2}', 'NumberInvalid'],
    ['{"number":1.5,"lat":1,"lng":2}', 'NumberInvalid'],
    ['{"number":1e22,"lat":1,"lng":2}', 'NumberInvalid'],
    ['{"number":"a\\u0000b","lat":1,"lng":2}', 'NumberUnprintable'],
    ['{"number":"a\\nb","lat":1,"lng":2}', 'NumberUnprintable'],
    ['{"number":"1","lat":1,"lng":2,"contact":{}}', 'ContactInvalid'],
    ['{"number":"1","lat":null,"lng":2}', 'LatMissing'],
    ['{"number":"1","lat":NaN,"lng":2}', 'LatInvalid'],
    ['{"number":"1","lat":[1],"lng":2}', 'LatInvalid'],
    ['{"number":"1","lat":true,"lng":2}', 'LatInvalid'],
    ['{"number":"1","lat":1,"lng":1e300}', 'LngOutOfRange'],
    [`{"number":"1","lat":1,"lng":2,"x":"${'x'.repeat(70_000)}"}`, 'RecordTooLong'],
  ]
  const good = '{"number":"+9991","lat":1,"lng":2,"contact":"c"}'
  const lines = cases.map(([line]) => `${line}\n${good}\n`)
  const path = writeText(t, 'a.ndjson', `${good}\n\n${lines.join('')}`)
  const { read, rejected } = await rejectedRows([path])
  t.same(
    rejected.map(({ line, reason }) => [line, reason]),
    cases.map(([, reason], index) => [3 + 2 * index, reason]),
  )
  t.equal(read.acceptedCount, cases.length + 1)
})

t.test('numbers of JSON are taken digit by digit, coordinates as their text', async (t) => {
  const lines = [
    '{"number":9991234567890123456789,"lat":"1.5","lng":-0.00000005,"contact":7}',
    '{"number":"\\u002b999\\"","lat":1.1,"lng":1.7999999949999999e2,"contact":"x\\ny"}',
  ]
  const read = await readRows([writeText(t, 'a.ndjson', lines.join('\r\n'))])
  t.same(read.phones, ['9991234567890123456789', '+999"'])
  t.same(read.contacts, ['7', 'x\ny'])
  t.same(read.lats, [15_000_000, 11_000_000])
  t.same(read.lngs, [-1, 1_799_999_995])
})

t.test('each feature that cannot be used has a reason', async (t) => {
  const point = '{"type":"Point","coordinates":[2,1]}'
  const make = (geometry: string, number = '"+9991"') =>
    `{"type":"Feature","geometry":${geometry},"properties":{"number":${number}}}`
  const cases: [feature: string, reason: string][] = [
    [make('null'), 'GeometryNotPoint'],
    [make('{"type":"LineString","coordinates":[[2,1],[3,1]]}'), 'GeometryNotPoint'],
    [make('{"type":"MultiPoint","coordinates":[[2,1]]}'), 'GeometryNotPoint'],
    [make('{"type":"Point","coordinates":[]}'), 'LatMissing'],
    [make('{"type":"Point","coordinates":[2]}'), 'LatMissing'],
    [make('{"type":"Point","coordinates":[2,91]}'), 'LatOutOfRange'],
    [make(point, 'null'), 'NumberEmpty'],
    [point, 'FeatureInvalid'],
    ['7', 'JsonInvalid'],
    ['{"type":"Feature" "geometry":null}', 'JsonInvalid'],
    [`{"type":"Feature","a":"${'x'.repeat(70_000)}"}`, 'RecordTooLong'],
  ]
  const good = make(point)
  const features = cases.flatMap(([feature]) => [feature, good])
  const collection = `{"type":"FeatureCollection",\n"features":[${[good, ...features].join('\n,')}]}`
  for (const [name, content, unit] of [
    ['a.geojson', [good, ...features].join('\n'), 'line'],
    ['a.json', collection, 'feature'],
  ]) {
    const { read, rejected } = await rejectedRows([writeText(t, name, content)])
    t.same(
      rejected.map(({ line, reason }) => [line, reason]),
      cases.map(([, reason], index) => [2 + 2 * index, reason]),
    )
    t.ok(rejected.every((row) => row.unit === unit))
    t.equal(read.acceptedCount, cases.length + 1)
  }
})

t.test(
  'coordinates of Parquet may be of any type of numbers, numbers only whole or text',
  async (t) => {
    const path = join(t.testdir({}), 'a.parquet')
    const write = (columns: string) =>
      runSql(`COPY (SELECT ${columns}) TO '${path}' (FORMAT parquet)`)
    for (const [type, lat, expected] of [
      ['FLOAT', '51.1', 511_000_000],
      ['DOUBLE', '51.1', 511_000_000],
      ['DECIMAL(9, 7)', '51.1000001', 511_000_001],
      ['TINYINT', '51', 510_000_000],
      ['VARCHAR', `'51.1'`, 511_000_000],
    ] as const) {
      await write(`9991::BIGINT AS number, ${lat}::${type} AS lat, 2::${type} AS lng, 5 AS contact`)
      const read = await readRows([path])
      t.same([read.phones, read.lats, read.contacts], [['9991'], [expected], ['5']], type)
    }
    await write(
      `'1' AS number, unnest(['nan', 'inf', NULL, '90.5'])::DOUBLE AS lat, 2.0::DOUBLE AS lng`,
    )
    const { rejected } = await rejectedRows([path])
    t.match(rejected, [
      { line: 1, unit: 'row', reason: 'LatInvalid' },
      { line: 2, unit: 'row', reason: 'LatInvalid' },
      { line: 3, unit: 'row', reason: 'LatMissing' },
      { line: 4, unit: 'row', reason: 'LatOutOfRange' },
    ])
    for (const columns of [
      '1.5::DOUBLE AS number, 1 AS lat, 2 AS lng',
      `'1' AS number, [1] AS lat, 2 AS lng`,
      `'1' AS number, DATE '2020-01-01' AS lat, 2 AS lng`,
    ]) {
      await write(columns)
      await t.rejects(readRows([path]), { code: 'InputRejected', message: /column "\w+" is \w+/ })
    }
  },
)

function writeText(t: Test, name: string, content: string): string {
  const path = join(t.testdir({}), name)
  writeFileSync(path, content)
  return path
}
