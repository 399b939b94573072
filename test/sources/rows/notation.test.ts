import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { notationFault } from '../../../src/sources/rows/notation.js'
import { readRows, rejectedLines } from '../../support/data/read-files.js'

/** `row-rules.test.ts` holds the rule for bytes to that in SQL. */

const cases: readonly (readonly [phone: string, reason: string | undefined])[] = [
  ['+9995550101', undefined],
  ['+999 (555) 01-01', undefined],
  ['999.555.0101', undefined],
  ['#31#+9995550101', undefined],
  ['001', undefined],
  ['000 000 0001', undefined],
  ['+9995550101x12', undefined],
  ['+9995550101 ext. 12', undefined],
  ['+9995550101;ext=12', undefined],
  ['+9995550101 Extension 12', undefined],
  ['9.99E+11', 'NumberDecimal'],
  ['9,99E+11', 'NumberDecimal'],
  ['9.99e11', 'NumberDecimal'],
  ['999E9', 'NumberDecimal'],
  [' -9.99E+11 ', 'NumberDecimal'],
  ['9995550101.0', 'NumberDecimal'],
  ['99955,00', 'NumberDecimal'],
  ['9995.0', 'NumberDecimal'],
  ['$5', 'NumberAmount'],
  ['5550101/5550102', 'NumberSeveral'],
  ['#N/A', 'NumberErrorCell'],
  ['#REF!', 'NumberErrorCell'],
  ['#DIV/0!', 'NumberErrorCell'],
  ['#WERT!', 'NumberErrorCell'],
  [' #NAME?', 'NumberErrorCell'],
  ['########', 'NumberErrorCell'],
  ['1-800-FLOWERS', 'NumberLetters'],
  ['+999555010l', 'NumberLetters'],
  ['tel:+9995550101', 'NumberLetters'],
  ['N/A', 'NumberLetters'],
  ['NULL', 'NumberLetters'],
  ['x12', 'NumberLetters'],
  ['+9995550101x', 'NumberLetters'],
  ['+9995550101 x12 x13', 'NumberLetters'],
  ['+9995550101 x12 é', 'NumberLetters'],
  ['電話', 'NumberLetters'],
  ["'+9995550107", 'NumberQuoted'],
  ["' 9995550107", 'NumberQuoted'],
  [' ’9995550107', 'NumberQuoted'],
  ['`9995550107`', 'NumberQuoted'],
  ['٩٩٩٥٥٥', 'NumberForeignDigits'],
  ['+９９９5550101', 'NumberForeignDigits'],
  ['+999555010١', 'NumberForeignDigits'],
  ['0', 'NumberZero'],
  ['+0', 'NumberZero'],
  ['00', 'NumberZero'],
  ['000-000-0000', 'NumberZero'],
  ['(000) 000 0000', 'NumberZero'],
  ['-', 'NumberWithoutDigits'],
  ['+', 'NumberWithoutDigits'],
  ['???', 'NumberWithoutDigits'],
]

t.test('a number that is written as no telephone number is has a reason', async (t) => {
  for (const [phone, reason] of cases) {
    const bytes = Buffer.from(`1${phone}1`)
    t.equal(notationFault(bytes, 1, bytes.length - 1, false), reason, phone)
  }
})

t.test('files and databases have the same reasons', async (t) => {
  const path = join(t.testdir({}), 'numbers.csv')
  writeFileSync(path, `number,lat,lng\n${cases.map(([phone]) => `"${phone}",1,2\n`).join('')}`)
  const read = await readRows([path])
  const taken = cases.flatMap(([phone, reason]) => (reason === undefined ? [phone] : []))
  t.same(read.phones, taken, 'byte for byte')
  const counts = read.rejects.map(({ reason, count }) => [reason, count])
  const reasons = [
    ...['NumberErrorCell', 'NumberQuoted', 'NumberDecimal', 'NumberAmount', 'NumberSeveral'],
    ...['NumberLetters', 'NumberForeignDigits', 'NumberWithoutDigits', 'NumberZero'],
  ]
  t.same(
    counts,
    reasons.map((reason) => [reason, cases.filter((expected) => expected[1] === reason).length]),
  )
})

t.test('the position 0,0 is taken only when told so', async (t) => {
  const path = join(t.testdir({}), 'positions.csv')
  const positions = [
    '0,0',
    '0.0,-0',
    '0.00000004,-0.00000004',
    '0.0000001,0',
    '0,0.00000005',
    '0,9',
  ]
  writeFileSync(path, `number,lat,lng\n${positions.map((at) => `+9991,${at}\n`).join('')}`)
  const read = await readRows([path])
  t.same(rejectedLines(read), { PositionZero: [2, 3, 4] })
  const allowed = await readRows([path], { rowOptions: { allowsNullIsland: true } })
  t.equal(allowed.acceptedCount, positions.length)
})
