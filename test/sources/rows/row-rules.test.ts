import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../../src/limits.js'
import type { ReadReport, RowOptions } from '../../../src/sources/batch.js'
import { readFiles } from '../../../src/sources/files/read-files.js'
import { FIELD_COUNT, fields } from '../../../src/sources/postgres/query.js'
import { PostgresRows } from '../../../src/sources/postgres/rows.js'
import type { RejectedSink } from '../../../src/sources/rows/rejects.js'
import {
  contactFault,
  keyFault,
  parseDegrees,
  phoneFault,
} from '../../../src/sources/rows/row-rules.js'
import { BatchKeeper } from '../../support/data/batch-keeper.js'
import { testSeed } from '../../support/random/properties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'

interface Row {
  readonly phone: string
  readonly lat: string
  readonly lng: string
  readonly contact: string
}

/** Odd ones beside ordinary ones; line ends are left out, since in CSV they say something else. */
const pieces = fc.constantFrom(
  ...[
    '+999',
    '1',
    '2',
    '7',
    ' ',
    '\t',
    '=',
    '@',
    '-',
    'é',
    '😀',
    'a',
    '"',
    ',',
    '\u00a0',
    '\u2003',
  ],
  ...['/', ';', '5550', '+', '|', '$', '2026'],
  ...['#', '#N/A', '.', '.0', 'e', 'E+', 'x', 'ext', '0x', '_', '٣', '文', '(', ')', '/', '99990'],
  ...['\ufeff', '\u0085', '\u200b', '\u00ad', '\x7f', '\x1f', '\x0b', '\u3000', '0'.repeat(30)],
)
const text = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''))
const atBound = fc
  .constantFrom(limits.phoneBytes, limits.contactBytes)
  .chain((bound) => fc.integer({ min: bound - 1, max: bound + 1 }))
  .chain((count) => fc.constantFrom('9', ' ', '\u00a0').map((character) => character.repeat(count)))
/** Each of these is taken or rejected for how it is written. */
const notations = fc.constantFrom(
  ...[
    '9.99E+11',
    '9,99e11',
    '1e5',
    '9990000001.0',
    ' 9990000001,00 ',
    '5550.0',
    '999.555.0',
    '-',
    '- ',
    ' + ',
    ...['0', '+0', '00', ' 0 ', '- 0', '0_0', '000-000-0000', '(000) 000-0000', '000-000-0001'],
    ...["'+9995550101", ' "9991', '‘9991’', '٩٩٩', '+９９９1', '0٠', '9991 x٢', "'0"],
  ],
  ...['(555) 555-0101', '+15555550101', '555-555-0101 x3', '0049 555 1234567', 'tel:+15555550101'],
  ...['#N/A', '#REF!', '####', ' #NV', '#31#+9991', '+9991x12', '+9991 ext. 2', '+9991;ext=2'],
  ...[
    '29.76',
    '-95.36',
    '1,5',
    '555.0101',
    '+1.5555550101',
    '5/5/2026',
    '2026-05-05',
    '12 %',
    '$5',
  ],
  ...[
    '5550101/5550102',
    '5550101;5550102',
    '030/123456',
    '+9991+9992',
    '1|2',
    '9,990,000',
    '5550101;1',
  ],
  ...['+9991 EXTENSION 2', '+9991 x', 'x12', '+9991x1x2', '0x1F', '1-800-FLOWERS', 'none', '٣٣٣'],
)
const anyText = fc.oneof(text, notations, atBound, fc.constant('+9991'))

const coordinate = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: -90, max: 90, noNaN: true }).map(String) },
  {
    weight: 2,
    // Halves of a unit, and both sides of the bounds.
    arbitrary: fc
      .integer({ min: -1_800_000_005, max: 1_800_000_005 })
      .map(
        (units) => `${Math.trunc(units / 1e7)}.${String(Math.abs(units % 1e7)).padStart(7, '0')}5`,
      ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        '',
        ' ',
        '\t',
        '1_000',
        '+-5',
        'inf',
        '-Infinity',
        'nan',
        '0x10',
        ' 5 ',
        '\t6',
        '5.',
        '.5',
      ],
      ...[
        '.',
        '-',
        '+',
        'e5',
        '1e1',
        '1E+1',
        '-1e-3',
        '1e999',
        '-1e999',
        '1e-999',
        '90',
        '-90',
        '180',
      ],
      ...[
        '-180',
        '90.0000001',
        '180.0000001',
        '٣',
        '1 2',
        '1,5',
        '\u00a05',
        '\x0b5',
        '-0',
        '+0.0',
        '00',
      ],
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '0',
      '0.0',
      '-0',
      '0,5',
      '-12,25',
      '1,5,5',
      '1.000,5',
      ',5',
      '0.00000004',
      '-0.00000005',
    ),
  },
  { weight: 1, arbitrary: text },
)

const rowsOf = fc.array(
  fc.record({ phone: anyText, lat: coordinate, lng: coordinate, contact: anyText }),
  { minLength: 1, maxLength: 80 },
)

const optionsOf = fc.record({
  allowsNullIsland: fc.boolean(),
  hasDecimalComma: fc.boolean(),
  e164Region: fc.constantFrom(undefined, 'US', 'DE'),
})

t.test('rows are taken and rejected as those of a CSV file are', async (t) => {
  const path = join(temporaryDirectory(t), 'rows.csv')
  await fc.assert(
    fc.asyncProperty(rowsOf, optionsOf, async (rows, rowOptions) => {
      const ours = new BatchKeeper()
      const ourRejected = keptRejected()
      const report = checkRows(rows, ours, rowOptions, ourRejected.sink)
      writeFileSync(path, `number,lat,lng,contact\n${rows.map(csvLine).join('')}`)
      const csv = new BatchKeeper()
      const csvRejected = keptRejected()
      const columns = {}
      const input = { patterns: [path], columns, rowOptions, spoolDirectory: join(path, '..') }
      const csvReport = await readFiles(input, csv, { rejected: csvRejected.sink })
      t.same(countsOf(report), countsOf(csvReport))
      t.same(ours.rows, csv.rows)
      t.same(ourRejected.rows, csvRejected.rows)
    }),
    { seed: testSeed(t), numRuns: byTier({ ci: 6, soak: 60 }), verbose: false },
  )
})

t.test('the bounds of texts are in bytes', async (t) => {
  const faultOf = (check: typeof phoneFault, text: string) => {
    const bytes = Buffer.from(text)
    return check(bytes, 0, bytes.length)
  }
  const cases: [check: typeof phoneFault, bytes: number, reason: string][] = [
    [phoneFault, limits.phoneBytes, 'NumberTooLong'],
    [contactFault, limits.contactBytes, 'ContactTooLong'],
    [keyFault, limits.keyBytes, 'KeyTooLong'],
  ]
  for (const [check, bytes, reason] of cases) {
    t.equal(faultOf(check, `12${'¿'.repeat(bytes / 2 - 1)}`), undefined)
    t.equal(faultOf(check, `12${'¿'.repeat(bytes / 2 - 1)}3`), reason)
  }
})

t.test('line ends are control characters in a phone and white space elsewhere', async (t) => {
  const phone = Buffer.from('+9991\n2')
  t.equal(phoneFault(phone, 0, phone.length), 'NumberUnprintable')
  t.ok(Number.isNaN(parseDegrees('5\n')))
  const blank = Buffer.from(' \r\n')
  t.equal(phoneFault(blank, 0, blank.length), 'NumberEmpty')
  t.equal(keyFault(blank, 0, blank.length), 'KeyMissing')
})

t.test('bytes that are not UTF-8 are rejected', async (t) => {
  const bytes = Buffer.from([0x2b, 0x39, 0xff])
  t.equal(phoneFault(bytes, 0, 3), 'EncodingInvalid')
  t.equal(contactFault(bytes, 0, 3), 'EncodingInvalid')
})

function checkRows(
  rows: readonly Row[],
  sink: BatchKeeper,
  options: RowOptions,
  rejected: RejectedSink,
): ReadReport {
  const chosen = { number: '', lat: '', lng: '', contact: '', key: undefined }
  const plan = { chosen, typeNames: new Map(), text: '', isLatBinary: false, isLngBinary: false }
  const checker = new PostgresRows(plan, 'rows', sink, options, rejected)
  for (const row of rows) {
    const starts = new Int32Array(FIELD_COUNT).fill(-1)
    const ends = new Int32Array(FIELD_COUNT).fill(-1)
    const parts: Buffer[] = []
    let at = 0
    for (const name of ['phone', 'lat', 'lng', 'contact'] as const) {
      const bytes = Buffer.from(row[name])
      starts[fields[name]] = at
      at += bytes.length
      ends[fields[name]] = at
      parts.push(bytes)
    }
    checker.take(Buffer.concat(parts), starts, ends)
  }
  return checker.finish()
}

function keptRejected() {
  const rows: unknown[] = []
  const sink: RejectedSink = {
    add: (reason, _, { phone, lat, lng }) => rows.push([reason, phone, lat, lng]),
  }
  return { rows, sink }
}

function csvLine({ phone, lat, lng, contact }: Row): string {
  const quoted = [phone, lat, lng, contact].map((field) => `"${field.replaceAll('"', '""')}"`)
  return `${quoted.join(',')}\n`
}

function countsOf(report: ReadReport) {
  const { rowCount, acceptedCount, normalizedCount, rejects, rejectedMap } = report
  return {
    rowCount,
    acceptedCount,
    normalizedCount,
    rejectedMap,
    reasons: rejects.map(({ reason, count }) => [reason, count]),
  }
}
