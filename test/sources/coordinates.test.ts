import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readRows } from '../support/data/read-files.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

/** The units of each text as a longitude, or the reason for which it is rejected. */
async function parse(t: Test, texts: readonly string[]): Promise<(number | string)[]> {
  const path = join(t.testdir({}), 'lngs.csv')
  // The number of a row is its index, so that it can be told which were taken.
  const rows = texts.map((text, index) => `+999${index},1,"${text}"\n`)
  writeFileSync(path, `number,lat,lng\n${rows.join('')}`)
  const { phones, lngs, rejects } = await readRows([path])
  const results: (number | string)[] = texts.map(() => rejects[0]?.reason ?? '')
  for (const [row, phone] of phones.entries()) results[Number(phone.slice(4))] = lngs[row]
  return results
}

/** The magnitude is `digits / 10^decimals`: exact, over the digits as one integer. */
function oracle(text: string): number {
  const [, sign, whole, decimals] = /^([+-]?)(\d*)\.?(\d*)$/.exec(text) ?? []
  const units = (BigInt(whole + decimals) * 10n ** 8n) / 10n ** BigInt(decimals.length)
  const rounded = Number((units + 5n) / 10n)
  return sign === '-' && rounded !== 0 ? -rounded : rounded
}

t.test('a coordinate becomes the nearest unit, halves away from zero', async (t) => {
  const cases: [string, number][] = [
    ['0', 0],
    ['-0', 0],
    ['-0.00000004', 0],
    ['+12.5', 125_000_000],
    ['.5', 5_000_000],
    ['5.', 50_000_000],
    ['  1.5\t', 15_000_000],
    ['000012.3', 123_000_000],
    ['0.0000001', 1],
    ['0.00000004999', 0],
    ['0.00000005', 1],
    ['-0.00000005', -1],
    ['1.1', 11_000_000],
    ['180', 1_800_000_000],
    ['-180.0000000000', -1_800_000_000],
    ['179.99999999', 1_800_000_000],
    ['1e2', 1_000_000_000],
    ['1.5E+1', 150_000_000],
    ['-12345e-3', -123_450_000],
    ['.5e0', 5_000_000],
    ['1e-7', 1],
    ['4.9e-8', 0],
    ['1e-999999999999', 0],
    ['0e999999999999', 0],
  ]
  const units = await parse(
    t,
    cases.map(([text]) => text),
  )
  for (const [index, [text, expected]] of cases.entries()) t.equal(units[index], expected, text)
})

for (const [reason, texts] of [
  ['LngMissing', ['', ' ', ' \t ']],
  [
    'LngInvalid',
    '. - + +-1 -+1 --1 1,5 1.2.3 0x1F 1_000 1_0.0 nan NaN -nan inf Infinity -inf e5 .e5 1e 1e+'
      .split(' ')
      .concat('1e5.5 1e5e5 1f 1d 12° １２ 1\u00a0 \u22121 1\u000b \f1 1\0 true'.split(' '), '1 2'),
  ],
  [
    'LngOutOfRange',
    '180.0000001 -180.00000001 1800 99999999999999999999999999999999 1e3 -1e300'.split(' '),
  ],
] as const) {
  t.test(`${reason} is told apart`, async (t) => {
    const parsed = await parse(t, [...texts])
    for (const [at, text] of texts.entries()) t.equal(parsed[at], reason, JSON.stringify(text))
  })
}

t.test('every unit, written with its seven decimals, is kept exactly', async (t) => {
  const write = (units: number) => {
    const size = String(Math.abs(units)).padStart(8, '0')
    return `${units < 0 ? '-' : ''}${size.slice(0, -7)}.${size.slice(-7)}`
  }
  const units: number[] = []
  for (const centre of [-1_800_000_000, -900_000_000, 0, 900_000_000, 1_800_000_000]) {
    for (let unit = centre - 300; unit <= centre + 300; unit++) {
      if (Math.abs(unit) <= 1_800_000_000) units.push(unit)
    }
  }
  const any = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 })
  for (const unit of fc.sample(any, {
    seed: testSeed(t),
    numRuns: byTier({ ci: 4_000, soak: 300_000 }),
  }))
    units.push(unit)
  const parsed = await parse(t, units.map(write))
  t.equal(
    parsed.findIndex((unit, index) => unit !== units[index]),
    -1,
  )
})

t.test('other decimals agree with exact arithmetic', async (t) => {
  const digits = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 })
  const decimal = fc
    .tuple(fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 179 }), digits)
    .map(([sign, whole, decimals]) => `${sign}${whole}.${decimals.join('')}`)
    // A half is not a binary fraction: to which side it goes is not defined.
    .filter((text) => !/\.\d{7}50*$/.test(text))
  const texts = fc.sample(decimal, {
    seed: testSeed(t),
    numRuns: byTier({ ci: 4_000, soak: 50_000 }),
  })
  const parsed = await parse(t, texts)
  const wrong = texts.filter((text, index) => parsed[index] !== oracle(text))
  t.same(wrong, [])
})
