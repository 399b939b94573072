/**
 * A field with several numbers was taken as one number, as were positions, amounts and dates of a column that had slipped:
 * recipients that were counted and could not be warned. Beside each kind are numbers that are written nearly so and dial.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { notationFault } from '../../src/sources/rows/notation.js'
import { readRows } from '../support/data/read-files.js'

const FAULTY = {
  NumberDecimal: [
    ...['29.7604321', '-95.3698028', '1.5', '0,5', '.5', '-5.5', '100.5234', '9995.0', '1234.5'],
    ...['1234,50', ' 5550101.50 '],
  ],
  NumberAmount: [
    ...['$5', '5 €', '￥5', '12%', '12 %', '9,990,000,001', '1,234.50'],
    ...['5/5/2026', '05.05.2026', '31-12-1999', '2026-05-05', '2026-05-05 10:30:00'],
  ],
  NumberSeveral: [
    ...['+9995550101;+9995550102', '9995550101;9995550102', '9995550101; 9995550102'],
    ...['9995550101 ::: 9995550102', '5550101|5550102', '5550101\\5550102', '5550101 & 5550102'],
    ...['5550101/5550102', '+9995550101/9995550102', '9995550101 // 9995550102'],
    ...['0999 555 01 01 / 0999 555 01 02', '(999) 555-0101/(999) 555-0102'],
    ...['9995550101,9995550102', '5550101, 5550102', '+9995550101+9995550102'],
    ...['+999 555 0101 +999 555 0102', '+9995550101＋9995550102', '10:30'],
  ],
} as const

const GOOD = [
  ...['(999) 555-0003', '999/555-0003', '999.555.0003', '02/555.01.01', '030/123456', '5550101/02'],
  ...['+999 33203/1234567', '+999 (0) 33203/1234567', '0664/1234567-12', '5550101-12'],
  ...['555.0101', '999.5550003', '030.123456', '+1.5555550101', '+999.5550101', '1.800.555.0101'],
  ...['+9995550101,12', '5550101,12', '+9995550101,,123456789#', '+9995550101;12'],
  ...['+9995550101;ext=12', '+9995550101 ext: 12', '#31#+9995550101', '*67 5550101'],
  ...['12-34-56', '32 10 00', '55 55 20 10', '555', '-5550101'],
]

t.test('what is no telephone number, or more than one, has its reason', async (t) => {
  for (const [reason, texts] of Object.entries(FAULTY)) {
    for (const text of texts) {
      t.equal(faultOf(text, false), reason, text)
      t.equal(faultOf(text, true), reason, `${text}, to become E.164`)
    }
  }
  for (const text of GOOD) t.equal(faultOf(text, false), undefined, text)
})

t.test('files have the same reasons', async (t) => {
  const path = join(t.testdir({}), 'numbers.csv')
  const texts = [...Object.values(FAULTY).flat(), ...GOOD]
  writeFileSync(path, `number,lat,lng\n${texts.map((text) => `"${text}",1,2\n`).join('')}`)
  const read = await readRows([path])
  t.same(read.phones, GOOD, 'byte for byte')
  t.same(
    read.rejects.map(({ reason, count }) => [reason, count]),
    Object.entries(FAULTY).map(([reason, { length }]) => [reason, length]),
  )
})

function faultOf(text: string, isReadLater: boolean): string | undefined {
  const bytes = Buffer.from(text)
  return notationFault(bytes, 0, bytes.length, isReadLater)
}
