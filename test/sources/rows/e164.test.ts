import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  PhoneNumber as LibraryNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min'
import t from 'tap'
import { E164Numbers, parseNormalization } from '../../../src/sources/rows/e164.js'
import { readRows } from '../../support/data/read-files.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

/** Numbers of +1 555 555 01xx belong to nobody; those of +999 are no numbers for the library. */
const cases: readonly (readonly [text: string, region: string, number: string])[] = [
  ['+15555550101', 'US', '+15555550101'],
  ['(555) 555-0101', 'US', '+15555550101'],
  ['555.555.0101', 'US', '+15555550101'],
  [' 1 555 555 0101 ', 'US', '+15555550101'],
  ['tel:+1-555-555-0101', 'US', '+15555550101'],
  ['TEL:555-555-0101', 'US', '+15555550101'],
  ['0015555550101', 'DE', '+15555550101'],
  ['00 1 (555) 555-0101', 'US', '+15555550101'],
  ['011 1 555 555 0101', 'US', '+15555550101'],
  ['٥٥٥٥٥٥٠١٠١', 'US', '+15555550101'],
  ['５５５５５５０１０１', 'US', '+15555550101'],
  ['\u00a0555\u2009555\u20110101', 'US', '+15555550101'],
  ['\u202a+1 555 555 0101\u202c', 'US', '+15555550101'],
  ['0555 5550101', 'GB', '+445555550101'],
  ['+44 (0)555 5550101', 'US', '+445555550101'],
  ['+9995550101', 'US', 'NumberImpossible'],
  ['555-0101', 'US', 'NumberImpossible'],
  ['911', 'US', 'NumberImpossible'],
  ['55555501011', 'US', 'NumberImpossible'],
  ['+1555555010', 'US', 'NumberImpossible'],
  ['1-555-FLOWERS', 'US', 'NumberImpossible'],
  ['5555550101 home', 'US', 'NumberImpossible'],
  ['5555550101/5555550102', 'US', 'NumberImpossible'],
  ['none', 'US', 'NumberImpossible'],
  ['-', 'US', 'NumberImpossible'],
  ['555-555-0101 x12', 'US', 'NumberExtension'],
  ['+15555550101;ext=12', 'US', 'NumberExtension'],
]

t.test('numbers become E.164, or have a reason', async (t) => {
  for (const [text, region, expected] of cases) {
    const numbers = new E164Numbers(region)
    for (const _ of ['first', 'again']) {
      const { number, fault } = numbers.read(text)
      t.equal(fault ?? number, expected, `${text} ${region}`)
    }
  }
})

t.test('what is remembered is what the library says, in all countries', async (t) => {
  const regions = getCountries()
  const digits = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })
  const start = fc.oneof(fc.constant('+'), fc.constant(''), fc.constant('0'), fc.constant('00'))
  const number = fc.tuple(fc.constantFrom(...regions), start, digits(2, 8), digits(1, 5))
  const property = fc.property(number, digits(5, 5), ([region, start, body, tail], other) => {
    const prefix = start === '+' ? `+${getCountryCallingCode(region)}${body}` : start + body
    const numbers = new E164Numbers(region)
    numbers.read(prefix + tail)
    const text = prefix + other.slice(0, tail.length)
    const { number, fault } = numbers.read(text)
    return (fault ?? number) === byLibrary(text, region)
  })
  fc.assert(property, {
    seed: testSeed(t),
    numRuns: byTier({ ci: 5_000, soak: 200_000 }),
  })
})

t.test('beginnings are remembered up to a bound, and forgotten one past it', async (t) => {
  const countMax = 4
  const numbers = new E164Numbers('US', countMax)
  /** Seven characters of each are its beginning. */
  const read = (index: number) => {
    const text = `+1555${10 + index}50101`
    t.equal(numbers.read(text).number, text)
  }
  for (let index = 0; index < countMax; index++) read(index)
  t.equal(numbers.prefixCount, countMax)
  read(0)
  t.equal(numbers.prefixCount, countMax, 'one that is known takes no place')
  read(countMax)
  t.equal(numbers.prefixCount, 1)
  for (let index = 0; index < countMax; index++) read(index)
  t.ok(numbers.prefixCount <= countMax)
})

t.test('files are read with their numbers as E.164, and say how many changed', async (t) => {
  const path = join(t.testdir({}), 'a.csv')
  const texts = cases.flatMap(([text, region]) => (region === 'US' ? [text] : []))
  const rows = [...texts, '#N/A', '9.99E+11', '1\t5555550101'].map((text) => `"${text}",1,2,c\n`)
  writeFileSync(path, `number,lat,lng,contact\n${rows.join('')}`)
  const read = await readRows([path], { rowOptions: { e164Region: 'US' } })
  const good = cases.filter(([, region, number]) => region === 'US' && number.startsWith('+'))
  t.same(
    read.phones,
    good.map(([, , number]) => number),
  )
  t.equal(read.normalizedCount, good.filter(([text, , number]) => text !== number).length)
  t.same(
    read.rejects.map(({ reason, count }) => [reason, count]),
    [
      ['NumberUnprintable', 1],
      ['NumberErrorCell', 1],
      ['NumberDecimal', 1],
      ['NumberSeveral', 1],
      ['NumberImpossible', 9],
      ['NumberExtension', 2],
    ],
  )
})

t.test('a form that is not known is refused', async (t) => {
  t.equal(parseNormalization('e164:US', '--normalize'), 'US')
  for (const text of ['', 'e164', 'e164:', 'e164:us', 'e164:XX', 'US', 'e164:USA', 'rfc3966:US']) {
    t.throws(() => parseNormalization(text, '--normalize'), { code: 'Usage', message: /e164:US/ })
  }
})

function byLibrary(text: string, defaultCountry: CountryCode): string {
  const read = (given: string) => {
    const found = parsePhoneNumberFromString(given, { defaultCountry, extract: false })
    const isPossible = found?.isPossible() === true && new LibraryNumber(found.number).isPossible()
    return isPossible ? found.number : undefined
  }
  return read(text) ?? read(text.replace(/^00/, '+')) ?? 'NumberImpossible'
}
