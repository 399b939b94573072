import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import type { ColumnNames } from '../../src/sources/batch.js'
import { sqlPath, withDatabase } from '../../src/sources/files/database.js'
import { notationFault } from '../../src/sources/rows/notation.js'
import { isReadable, type RejectReason } from '../../src/sources/rows/rejects.js'
import { csvRecords } from '../oracle/rfc4180.js'
import { type ReadRows, readRows, rejectedLines, rejectedRows } from '../support/data/read-files.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const HEADER = 'number,lat,lng,contact\n'

/** Of a large file: it is bytes that make pieces, of a mebibyte each. */
const wideRow = (_: unknown, index: number) =>
  `+999${String(index).padStart(30, '0')},1.5,2.5,c${'c'.repeat(120)}\n`
const HALF_COUNT = 3_500
const HALF = Array.from({ length: HALF_COUNT }, wideRow).join('')

async function read(t: Test, ...contents: (string | Uint8Array)[]): Promise<ReadRows> {
  const directory = t.testdir({})
  const paths = contents.map((content, index) => {
    const path = join(directory, `${index}.csv`)
    writeFileSync(path, content)
    return path
  })
  const result = await readRows(paths)
  t.equal(result.rowCount, result.phones.length + result.rejectedCount, 'none is lost')
  return result
}

t.test('columns are found by name, in any order and case, beside others', async (t) => {
  const result = await read(t, 'Name, LNG ,Contact,NUMBER,Lat\n"A ""B"", C",2,x,+9991,1\n')
  t.same(result.phones, ['+9991'])
  t.same([...result.lngs, ...result.lats], [20_000_000, 10_000_000])
})

t.test('fields may be separated in several ways', async (t) => {
  const rows = [
    ['number', 'lat', 'lng', 'a,b;c'],
    ['+9991', '1', '2', 'x'],
    ['+9992', '3', '4', ''],
  ]
  const delimiters = [',', ';', '\t', '|']
  const texts = delimiters.map((delimiter) =>
    rows.map((row) => row.map((field) => `"${field}"`).join(delimiter)).join('\n'),
  )
  t.same(
    (await read(t, ...texts)).phones,
    delimiters.flatMap(() => ['+9991', '+9992']),
  )
})

for (const [name, lineEnd] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
]) {
  t.test(`lines may end in ${name}, the last one or not, and blank ones are skipped`, async (t) => {
    const lines = ['', 'number,lat,lng', '', '+9991,1,2', '', '', '+9992,x,2', '+9993,1,2']
    const ends = ['', lineEnd, lineEnd + lineEnd]
    const result = await read(t, ...ends.map((end) => lines.join(lineEnd) + end))
    t.same(
      result.phones,
      ends.flatMap(() => ['+9991', '+9993']),
    )
    t.same(rejectedLines(result), { LatInvalid: [7, 7, 7] })
  })
}

t.test('a byte order mark is skipped', async (t) => {
  const result = await read(t, `\ufeff${HEADER}+9991,1,2,\n+9992,x,2,\n`)
  t.same(result.phones, ['+9991'])
  t.same(rejectedLines(result), { LatInvalid: [3] })
})

t.test('phones are kept byte for byte', async (t) => {
  const phones = [
    ' +9991 ',
    '+999 1',
    '(999) 1-2',
    '0099',
    '1"2',
    '+9991234567,12',
    '+999😀',
    '-1',
    '#1',
    '9'.repeat(64),
  ]
  const rows = phones.map((phone) => `"${phone.replaceAll('"', '""')}",1,2,`)
  const result = await read(t, `${HEADER}${rows.join('\n')}\n`)
  t.same(result.phones, phones)
  t.same(result.rejects, [])
})

t.test('each reason for a rejection is told apart', async (t) => {
  const cases: [row: string | Buffer, reason: RejectReason][] = [
    [',1,2,', 'NumberEmpty'],
    ['"",1,2,', 'NumberEmpty'],
    [' \t,1,2,', 'NumberEmpty'],
    ['\u00a0\u3000,1,2,', 'NumberEmpty'],
    [`${'9'.repeat(65)},1,2,`, 'NumberTooLong'],
    [`${'é'.repeat(33)},1,2,`, 'NumberTooLong'],
    ['+999\0,1,2,', 'NumberUnprintable'],
    ['+999\t1,1,2,', 'NumberUnprintable'],
    ['+999\x7f,1,2,', 'NumberUnprintable'],
    ['+999\u0085,1,2,', 'NumberUnprintable'],
    ['=999,1,2,', 'NumberFormula'],
    ['@999,1,2,', 'NumberFormula'],
    ['#REF!,1,2,', 'NumberErrorCell'],
    ["'+9995550107,1,2,", 'NumberQuoted'],
    ['9.99E+11,1,2,', 'NumberDecimal'],
    ['+999l,1,2,', 'NumberLetters'],
    ['٩٩٩,1,2,', 'NumberForeignDigits'],
    ['+,1,2,', 'NumberWithoutDigits'],
    ['0,1,2,', 'NumberZero'],
    ['+999,0,0,', 'PositionZero'],
    ['+999,,2,', 'LatMissing'],
    ['+999,1,  ,', 'LngMissing'],
    ['+999,nan,2,', 'LatInvalid'],
    ['+999,1,0x10,', 'LngInvalid'],
    ['+999,90.0000001,2,', 'LatOutOfRange'],
    ['+999,1,-180.0000001,', 'LngOutOfRange'],
    [`+999,1,2,${'c'.repeat(129)}`, 'ContactTooLong'],
    ['+999,1,2', 'FieldCountWrong'],
    ['+999,1,2,,x', 'FieldCountWrong'],
    [' ', 'FieldCountWrong'],
    ['"+999"1,1,2,', 'QuoteMalformed'],
    ['+999,1,2,"a"b"c"', 'QuoteMalformed'],
    [Buffer.from([0x2b, 0xff, 0x2c, 0x31, 0x2c, 0x32, 0x2c]), 'EncodingInvalid'],
    [Buffer.concat([Buffer.from('+999,1,2,'), Buffer.from([0xc3])]), 'EncodingInvalid'],
    [`+999,1,2,${'x'.repeat(limits.recordBytes)}`, 'RecordTooLong'],
  ]
  const good = '+9990,1,2,\n'
  const rows = cases.flatMap(([row]) => [Buffer.from(row), Buffer.from(`\n${good}`)])
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, Buffer.concat([Buffer.from(HEADER), ...rows]))
  const { read: result, rejected } = await rejectedRows([path])
  t.same(
    rejected.map(({ line, reason }) => [line, reason]),
    cases.map(([, reason], index) => [2 + 2 * index, reason]),
  )
  t.equal(result.acceptedCount, cases.length, 'the rows around them are taken')
  // The end of a file is another place of the scan for what cannot be told apart into fields.
  const atEnd = cases.filter(
    ([, reason], index) =>
      !isReadable(reason) && cases.findIndex((other) => other[1] === reason) === index,
  )
  const ends = byTier({ ci: atEnd, soak: cases })
  const paths = ends.map(([row], index) => {
    const path = join(t.testdirName, `${index}.csv`)
    writeFileSync(path, Buffer.concat([Buffer.from(HEADER), Buffer.from(row)]))
    return path
  })
  const last = await rejectedRows(paths)
  t.same(
    last.rejected.map(({ line, reason }) => [line, reason]),
    ends.map(([, reason]) => [2, reason]),
  )
  t.equal(last.read.rowCount, ends.length)
})

t.test('a large file without anything unusual is held to the same rules', async (t) => {
  const cases: [row: string, reason: string | undefined][] = [
    ['12 ,1,2,', undefined],
    [' 12,1 ,2,c', undefined],
    ['1_0,+1,.2,~c', undefined],
    ['\u00a012,1,2,', undefined],
    ['" ",1,2,', 'NumberEmpty'],
    [',1,2,', 'NumberEmpty'],
    [`${'0'.repeat(65)},1,2,`, 'NumberTooLong'],
    ['1\u0085,1,2,', 'NumberUnprintable'],
    ['=1,1,2,', 'NumberFormula'],
    ['#N/A,1,2,', 'NumberErrorCell'],
    ['9.99E+11,1,2,', 'NumberDecimal'],
    ['1e5,1,2,', 'NumberDecimal'],
    ['99900.0,1,2,', 'NumberDecimal'],
    ['0x1F,1,2,', 'NumberLetters'],
    [' 0x1F,1,2,', 'NumberLetters'],
    ["'12,1,2,", 'NumberQuoted'],
    ['1٢,1,2,', 'NumberForeignDigits'],
    ['-,1,2,', 'NumberWithoutDigits'],
    [' 0 ,1,2,', 'NumberZero'],
    ['1,0,0,', 'PositionZero'],
    ['1,-0.00000004,0.00000004,', 'PositionZero'],
    ['1,,2,', 'LatMissing'],
    ['1, ,2,', 'LatMissing'],
    ['1,1_0,2,', 'LatInvalid'],
    ['1,+-1,2,', 'LatInvalid'],
    ['1, +-1,2,', 'LatInvalid'],
    ['1,nan,2,', 'LatInvalid'],
    ['1,1,1\u00a0,', 'LngInvalid'],
    ['1,1,inf,', 'LngInvalid'],
    ['1,90.1,2,', 'LatOutOfRange'],
    ['1,1,-180.1,', 'LngOutOfRange'],
    [`1,1,2,${'c'.repeat(129)}`, 'ContactTooLong'],
  ]
  const rows = cases.map(([row]) => `${row}\n`)
  const result = await read(t, [HEADER, ...rows, HALF, HALF].join(''))
  const expected: Record<string, number[]> = {}
  for (const [index, [, reason]] of cases.entries()) {
    if (reason !== undefined) expected[reason] = [...(expected[reason] ?? []), index + 2]
  }
  t.same(rejectedLines(result), expected)
  t.same(result.phones.slice(0, 4), ['12 ', ' 12', '1_0', '\u00a012'])
  t.same(result.contacts.slice(0, 4), ['', 'c', '~c', ''])
})

t.test('values at their bounds are taken', async (t) => {
  const rows = [
    `${'9'.repeat(64)},90,180,${'c'.repeat(128)}`,
    '1,-90,-180,',
    `+9991,-0,3,"${'""'.repeat(128)}"`,
    `9${'¡'.repeat(31)}9,0.00000005,-0.00000005,`,
  ]
  const result = await read(t, HEADER + rows.join('\n'))
  t.same([...result.lats], [900_000_000, -900_000_000, 0, 1])
  t.same([...result.lngs], [1_800_000_000, -1_800_000_000, 30_000_000, -1])
  const wide = 'number,lat,lng,x\n+9991,1,2,'
  const pad = limits.recordBytes - '+9991,1,2,'.length
  t.equal((await read(t, `${wide}${'x'.repeat(pad)}\n`)).rejectedCount, 0)
  t.equal((await read(t, `${wide}${'x'.repeat(pad + 1)}\n`)).rejectedCount, 1)
})

t.test(
  'line breaks are believed in ignored columns, and lines are still the physical',
  async (t) => {
    const text = 'number,lat,lng,note\n\n+9991,1,2,"a\n\nb\r\nc"\n+9992,x,2,\n\nbad\n+9993,y,2,\n'
    const result = await read(t, text)
    t.same(result.phones, ['+9991'])
    t.same(rejectedLines(result), { FieldCountWrong: [9], LatInvalid: [7, 10] })
    const ends = await read(t, text.replaceAll('\r', '').replaceAll('\n', '\r\n'))
    t.same(rejectedLines(ends), { FieldCountWrong: [9], LatInvalid: [7, 10] })
  },
)

t.test('a line break anywhere else may have swallowed rows, and the file is refused', async (t) => {
  const good = '+9990,1,2,a\n'
  const cases: [rows: string, place: RegExp][] = [
    ['+9991,1,2,"a\n+9992,1,2,b\n+9993,1,2,"\n', /\b2 of its 7 lines.*0\.csv:3/],
    ['"+9991,1,2,a\n+9992",1,2,b\n', /\b1 of its 6 lines.*0\.csv:3/],
    ['+9991,1,"2\n+9992,1,2"\n', /\b1 of its 6 lines.*0\.csv:3/],
    ['"+9991,1,2,a\n', /0\.csv:3/],
    ['+9991,1,2,a\n+9992,1,2,"b\n\n', /0\.csv:4/],
  ]
  for (const [index, [rows, message]] of cases.entries()) {
    const lineEnds = ['\n', '\r\n', '\r']
    for (const lineEnd of byTier({ ci: [lineEnds[index % 3]], soak: lineEnds })) {
      const text = HEADER + good + rows + good.repeat(2)
      const failed = read(t, text.replaceAll('\n', lineEnd))
      await t.rejects(failed, { code: 'InputRejected', message }, JSON.stringify([rows, lineEnd]))
    }
  }
})

/** DuckDB takes its time for each rejected record. */
const BROKEN = byTier({
  ci: `${'x'.repeat(30_000)}\n`.repeat(300),
  soak: `${'x'.repeat(120)}\n`.repeat(200_000),
})
const LONG_BYTES = byTier({ ci: 3 << 20, soak: 40 << 20 })

const BEHIND_HALF = new RegExp(`:${HALF_COUNT + 2}\\b`)

/** What is put in the middle of very many good rows; none of these may lose one of them. */
const ODDITIES: [name: string, lines: string | Buffer, refused?: RegExp][] = [
  ['a quotation mark that is not closed', '"+9991,1,2,a\n', BEHIND_HALF],
  ['one that is not closed, in the last column', '+9991,1,2,"a\n', BEHIND_HALF],
  ['two that are not closed', '"+9991,1,2,a\n+9992,1,2,a\n"+9993,1,2,a\n', BEHIND_HALF],
  ['another line end', '+9991,1,2,a\r\n', /end in different ways/],
  ['an LF too few', '+9991,1,2,a\r', /end in different ways/],
  ['a line of megabytes', `+9991,1,2,${'x'.repeat(LONG_BYTES)}\n`],
  ['a field too few', '+9991,1,2\n'],
  ['a field too many', '+9991,1,2,a,b\n'],
  ['bytes that are not UTF-8', Buffer.from([0x2b, 0xff, 0x2c, 0x31, 0x2c, 0x2c, 0x0a])],
  ['megabytes of broken records', BROKEN],
]

for (const [name, lines, refused] of ODDITIES) {
  t.test(`nothing is lost around ${name}`, async (t) => {
    const odd = Buffer.from(lines)
    const content = Buffer.concat([Buffer.from(HEADER + HALF), odd, Buffer.from(HALF)])
    if (refused !== undefined) {
      await t.rejects(read(t, content), { code: 'InputRejected', message: refused })
      return
    }
    const result = await read(t, content)
    t.equal(result.acceptedCount, 2 * HALF_COUNT)
    t.equal(result.rowCount, 2 * HALF_COUNT + odd.filter((byte) => byte === 0x0a).length)
    t.equal(result.rejects[0].examples[0].line, HALF_COUNT + 2)
  })
}

t.test('large files are read as they are read in order, whatever is in them', async (t) => {
  const seed = testSeed(t)
  const row = (index: number) =>
    `+999${index % 5_000},1.5,2.5,c${index}${'c'.repeat(120)},k${index % 6_000}\n`
  const rows = Array.from({ length: byTier({ ci: 7_500, soak: 15_000 }) }, (_, index) => row(index))
  const oddity = fc.constantFrom(
    '',
    '+9991,1,2\n',
    '+9991,1,2,a\tb,k\n',
    '+9991,91,2,a,k\n',
    '"+9991",1,2,"a,b",k\n',
    '+9991,1,2,"a\nb",k\n',
    '\n',
    ' \n',
    '+9991,1,2,a\x00,k\n',
    '+9991,1,2,a\r\n',
    '"+9991,1,2,a,k\n',
    Buffer.from([0x2b, 0xff, 0x2c, 0x31, 0x2c, 0x32, 0x2c, 0x2c, 0x6b, 0x0a]),
  )
  const at = fc.integer({ min: 0, max: rows.length })
  const directory = t.testdir({})
  const outcomeOf = async (name: string, first: string, columns: ColumnNames) => {
    try {
      const { rejects, ...read } = await readRows([first, join(directory, name)], { columns })
      const lines = rejectedLines({ ...read, rejects })
      return { ...read, lines }
    } catch (error) {
      return (error as Error).message.replaceAll(name, '').replace(/ \(DuckDB: .*/, '')
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(at, oddity), { maxLength: 2 }),
      fc.constantFrom({}, { key: 'key' }),
      async (oddities, columns) => {
        const parts: (string | Uint8Array)[] = [...rows]
        for (const [place, odd] of oddities) parts.splice(place, 0, odd)
        const content = Buffer.concat(
          ['number,lat,lng,contact,key\n', ...parts].map((part) => Buffer.from(part)),
        )
        const first = join(directory, 'first.csv')
        writeFileSync(first, `number,lat,lng,contact,key\n${row(7)}`)
        writeFileSync(join(directory, 'plain.csv'), content)
        // A packed file is read in order.
        writeFileSync(join(directory, 'packed.csv.gz'), gzipSync(content, { level: 1 }))
        t.same(
          await outcomeOf('plain.csv', first, columns),
          await outcomeOf('packed.csv.gz', first, columns),
        )
      },
    ),
    { seed, numRuns: byTier({ ci: 1, soak: 15 }) },
  )
})

t.test('examples are kept up to their limit, with file and line and no values', async (t) => {
  const secret = '+999123456789'
  const rows = `${secret},91.5,2\n`.repeat(limits.rejectExampleCount + 1)
  const { rejects } = await read(t, `number,lat,lng\n${rows}`)
  t.equal(rejects[0].count, limits.rejectExampleCount + 1)
  t.same(
    rejects[0].examples.map(({ line }) => line),
    [2, 3, 4, 5, 6],
  )
  t.notMatch(JSON.stringify(rejects), /999123456789|91\.5/)
})

t.test('files are read in the order given, and contacts are shared among them', async (t) => {
  const result = await read(
    t,
    `${HEADER}+9991,1,2,a\n`,
    HEADER,
    'lng;lat;number\n1;2;+9992\n',
    `${HEADER}+9993,1,2,a\n`,
  )
  t.same(result.phones, ['+9991', '+9992', '+9993'])
  t.same(result.contacts, ['a', '', 'a'])
})

t.test('gzip is told by its bytes, of one part or several, and must be whole', async (t) => {
  const text = HEADER + '+9991,1,2,a\n'.repeat(5000)
  const packed = gzipSync(text)
  t.equal((await read(t, packed)).acceptedCount, 5000)
  const parts = Buffer.concat([packed, gzipSync('+9992,1,2,b\n')])
  t.equal((await read(t, parts)).acceptedCount, 5001)
  await t.rejects(read(t, packed.subarray(0, -30)), { code: 'InputRejected' }, 'cut off')
  for (const at of [packed.length - 6, packed.length >> 1]) {
    const damaged = Buffer.from(packed)
    damaged[at] ^= 1
    await t.rejects(read(t, damaged), { code: 'InputRejected' }, 'damaged')
  }
})

t.test('a file that cannot be used as a whole is refused and named', async (t) => {
  const directory = t.testdir({})
  mkdirSync(join(directory, 'sub'))
  await t.rejects(readRows([join(directory, 'none.csv')]), {
    code: 'InputRejected',
    message: /none\.csv does not exist/,
  })
  await t.rejects(readRows([join(directory, 'sub')]), {
    code: 'InputRejected',
    message: /sub is a directory/,
  })
  await t.rejects(readRows(['/dev/null']), {
    code: 'InputRejected',
    message: /not a regular file/,
  })
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /empty/],
    ['\n\r\n', /empty/],
    ['number,lat,length\n', /no column "lng".*found number, lat, length; .*--lng/],
    ['fon;lat;lng\n', /no column "number".*fon, lat, lng/],
    ['phone,mobile,lat,lng\n', /"phone" and "mobile".*--number/],
    ['number,lat,lng,LAT\n', /more than one column "lat"/],
    ['"number,lat,lng\n', /no header could be read/],
    [Buffer.from('number,lat,lng\n', 'utf16le'), /UTF-16/],
  ]
  for (const [content, message] of cases) {
    await t.rejects(read(t, content), { code: 'InputRejected', message }, String(message))
  }
})

t.test('a header that is missing does not give away the values in its place', async (t) => {
  const failure = await read(t, '+999123456789,51.25,7.5\n').catch((error: Error) => error.message)
  t.match(failure, /found \?, \?, \?/)
  t.notMatch(failure, /999123456789|51\.25/)
})

t.test('a file with only a header is a source without recipients', async (t) => {
  const result = await read(t, HEADER, HEADER.trimEnd(), `${HEADER}\n\n`)
  t.match(result, { rowCount: 0, acceptedCount: 0 })
})

t.test('random rows come back, whatever malformed lines are between them', async (t) => {
  const seed = testSeed(t)
  const text = fc.string({
    unit: fc.constantFrom('+', '9', ' ', ',', ';', '"', '¿', '😀', '#'),
    minLength: 1,
    maxLength: 12,
  })
  const isRejected = (phone: string) =>
    notationFault(Buffer.from(phone), 0, Buffer.byteLength(phone), false) !== undefined
  const phone = text.map((tail) => `+999${tail}`).filter((phone) => !isRejected(phone))
  const good = fc.tuple(
    phone,
    fc.oneof(
      fc.constant(''),
      text.filter((c) => c.trim() !== ''),
    ),
  )
  const bad = fc.constantFrom('+9991,1', ',,,,,,x', '"a"b,1,2,c', 'x'.repeat(70_000), '\u00ff')
  const quote = (field: string) => `"${field.replaceAll('"', '""')}"`
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 3, arbitrary: good }, bad), {
        maxLength: byTier({ ci: 120, soak: 40 }),
      }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (rows, lineEnd) => {
        const lines = rows.map((row) =>
          typeof row === 'string'
            ? Buffer.from(row, 'latin1')
            : Buffer.from(`${quote(row[0])},1,2,${quote(row[1])}`),
        )
        const content = Buffer.concat(
          [HEADER.trimEnd(), ...lines].flatMap((line) => [Buffer.from(line), Buffer.from(lineEnd)]),
        )
        const result = await read(t, content)
        const expected = rows.flatMap((row) => (typeof row === 'string' ? [] : [row]))
        t.same(
          result.phones,
          expected.map(([phone]) => phone),
        )
        t.equal(result.rowCount, rows.length)
        t.same(
          result.contacts,
          expected.map(([, contact]) => contact),
        )
      },
    ),
    { seed, numRuns: byTier({ ci: 5, soak: 150 }) },
  )
})

t.test('random text is read as it is, or refused, but never in part', async (t) => {
  const seed = testSeed(t)
  const piece = fc.constantFrom('"', '"', '\n', '\r\n', '\r', ',', '+9991,1,2,a\n', 'x', '\u00e9')
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const content = HEADER + pieces.join('')
      const result = await read(t, content).catch((error: { code: string }) => error)
      if (!('rowCount' in result)) {
        t.equal(result.code, 'InputRejected')
        return
      }
      // What RFC 4180 does not allow is read only line by line, since no column is ignored.
      const lines = content.split(/\r\n|\n|\r/).filter((line) => line !== '')
      const records = csvRecords(content, ',') ?? lines
      t.equal(result.rowCount, records.length - 1, JSON.stringify(content))
    }),
    { seed, numRuns: byTier({ ci: 8, soak: 400 }) },
  )
})

t.test('a path is a path and no pattern', async (t) => {
  const directory = t.testdir({})
  const names = ['a[1].csv', 'a1.csv', 'b*.csv', 'bx.csv', 'c?.csv', 'cx.csv', "d'e.csv", '**']
  names.push('f\\g.csv', '{h,i}.csv', 'j=k.csv', '[!l].csv', 'é😀.csv.gz')
  const paths = names.map((name) => join(directory, name))
  for (const [index, path] of paths.entries()) {
    writeFileSync(path, `number,lat,lng,contact\n+9991,1,2,"${names[index]}"\n`)
  }
  const taken = await withDatabase(paths, async (connection) => {
    const read = paths.map((path) =>
      connection.runAndReadAll(
        `SELECT * FROM read_csv(${sqlPath(path)}, header = true, compression = 'none')`,
      ),
    )
    return (await Promise.all(read)).map((rows) => rows.getColumns().at(-1))
  })
  t.same(
    taken,
    names.map((name) => [name]),
  )
  t.same((await readRows(paths.slice(0, 3))).contacts, names.slice(0, 3))
})

t.test('where the pieces of a file are cut makes no difference', async (t) => {
  const row = `+999{},1,2,"c {}${'c'.repeat(120)}"\r\n`
  const rows = Array.from({ length: 16_000 }, (_, index) =>
    index % 1000 === 7 ? 'bad\r\n\r\n' : row.replaceAll('{}', String(index)),
  )
  const content = `${HEADER.trimEnd()}\r\n${rows.join('')}`
  t.ok(content.length > 2 * 2 ** 20, 'there are several pieces')
  const result = await read(t, content)
  t.equal(result.rejectedCount, 16)
  t.same(rejectedLines(result).FieldCountWrong, [9, 1010, 2011, 3012, 4013])
  const wanted = rows.flatMap((text, index) => (text.startsWith('bad') ? [] : [`+999${index}`]))
  t.strictSame(result.phones.join(), wanted.join())
})
