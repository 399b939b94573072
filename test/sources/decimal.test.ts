import fc from 'fast-check'
import t from 'tap'
import { coordinateFaults, parseUnits } from '../../src/sources/decimal.js'
import { testSeed } from '../support/properties.js'

const { missing, invalid, outOfRange } = coordinateFaults

function parse(text: string, degreesMax = 180): number {
  const bytes = Buffer.from(text)
  return parseUnits(bytes, 0, bytes.length, degreesMax)
}

/** Exact, over the digits as one integer: the magnitude is `digits / 10^decimals`. */
function oracle(sign: string, whole: string, decimals: string, exponent = 0): number {
  const shift = exponent - decimals.length + 7
  const digits = BigInt(whole + decimals)
  const scale = 10n ** BigInt(Math.abs(shift))
  const units = shift >= 0 ? digits * scale : (2n * digits + scale) / (2n * scale)
  return units === 0n ? 0 : Number(sign === '-' ? -units : units)
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
    ['1.00000014999999999999999999999', 10_000_001],
    ['1.00000015', 10_000_002],
    ['-1.00000015', -10_000_002],
    ['180', 1_800_000_000],
    ['-180.0000000000', -1_800_000_000],
    ['179.99999995', 1_800_000_000],
    ['1e2', 1_000_000_000],
    ['1.5E+1', 150_000_000],
    ['-12345e-3', -123_450_000],
    ['.5e0', 5_000_000],
    ['1e-7', 1],
    ['5e-8', 1],
    ['4.9e-8', 0],
    ['1e-999999999999', 0],
    ['0e999999999999', 0],
  ]
  for (const [text, units] of cases) t.equal(parse(text), units, text)
})

t.test('what is not a decimal number in range has its reason', async (t) => {
  const cases: [string, number][] = [
    ['', missing],
    [' \t ', missing],
    ...[
      '.',
      '-',
      '+',
      '+-1',
      '--1',
      '1,5',
      '1.2.3',
      '1 2',
      '0x1F',
      '1_000',
      'nan',
      'NaN',
      'inf',
    ].map((text): [string, number] => [text, invalid]),
    ...[
      'Infinity',
      '-inf',
      'e5',
      '.e5',
      '1e',
      '1e+',
      '1e5.5',
      '1e5e5',
      '1f',
      '12°',
      '１２',
      '1\u00a0',
      '\u22121',
    ].map((text): [string, number] => [text, invalid]),
    ['180.0000001', outOfRange],
    ['180.00000000000000000000001', outOfRange],
    ['-180.00000001', outOfRange],
    ['1800', outOfRange],
    ['99999999999999999999999999999999', outOfRange],
    ['1e3', outOfRange],
    ['1e999999999999', outOfRange],
  ]
  for (const [text, fault] of cases) t.equal(parse(text), fault, JSON.stringify(text))
  t.equal(parse('90', 90), 900_000_000)
  t.equal(parse('90.00000000001', 90), outOfRange)
})

t.test('any decimal agrees with exact arithmetic', async (t) => {
  const digits = (min: number, max: number) =>
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max })
  const decimal = fc.record({
    sign: fc.constantFrom('', '+', '-'),
    whole: fc.integer({ min: 0, max: 179 }).map(String),
    decimals: digits(0, 24).map((list) => list.join('')),
  })
  const seed = testSeed(t)
  fc.assert(
    fc.property(decimal, ({ sign, whole, decimals }) => {
      return parse(`${sign}${whole}.${decimals}`) === oracle(sign, whole, decimals)
    }),
    { seed, numRuns: 20_000 },
  )
  fc.assert(
    fc.property(decimal, fc.integer({ min: -30, max: 0 }), (parts, exponent) => {
      const { sign, whole, decimals } = parts
      const text = `${sign}${whole}.${decimals}e${exponent}`
      return parse(text) === oracle(sign, whole, decimals, exponent)
    }),
    { seed, numRuns: 5_000 },
  )
})

t.test('every unit, written with its seven decimals, is kept exactly', async (t) => {
  const write = (units: number) => {
    const size = String(Math.abs(units)).padStart(8, '0')
    return `${units < 0 ? '-' : ''}${size.slice(0, -7)}.${size.slice(-7)}`
  }
  const near = [-1_800_000_000, -900_000_000, 0, 900_000_000, 1_800_000_000]
  for (const centre of near) {
    for (let units = centre - 300; units <= centre + 300; units++) {
      if (Math.abs(units) <= 1_800_000_000 && parse(write(units)) !== units) t.fail(`${units}`)
    }
  }
  const seed = testSeed(t)
  const unit = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 })
  fc.assert(
    fc.property(unit, (units) => parse(write(units)) === units),
    { seed, numRuns: 50_000 },
  )
})
