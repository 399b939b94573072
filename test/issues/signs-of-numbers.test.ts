/**
 * A fullwidth plus, which East Asian keyboards write, was dropped: with `--normalize e164:US` the number ＋49 30 123456 was
 * stored as +14930123456, which is another person's. What a number becomes is compared with Google's libphonenumber, of
 * which the library that Hickory uses is a rewrite.
 */
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import t from 'tap'
import { E164Numbers } from '../../src/sources/rows/e164.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const { PhoneNumberUtil, PhoneNumberFormat, PhoneNumberType } = createRequire(import.meta.url)(
  'google-libphonenumber',
) as GoogleLibrary
const google = PhoneNumberUtil.getInstance()

const cases: readonly (readonly [text: string, region: string, number: string])[] = [
  ['＋49 30 123456', 'US', '+4930123456'],
  ['＋１２０２５５５０１４３', 'JP', '+12025550143'],
  ['＋81 90 5555 0101', 'CN', '+819055550101'],
  ['tel:＋49-30-123456', 'GB', '+4930123456'],
  ['\u202a＋49 30 123456\u202c', 'JP', '+4930123456'],
  ['（＋49）30 123456', 'US', '+4930123456'],
  ['(+49) 30 123456', 'US', '+4930123456'],
  ['＋ 49 30 123456', 'US', '+4930123456'],
  ['（202）555-0143', 'US', '+12025550143'],
  ['0082 2 123 4567', 'KR', '+8221234567'],
  ['00922/90000 0 000', 'TW', '+922900000000'],
  // Without its area code, a number of Canada was taken, as one of +1 that nobody can dial.
  ['555-0143', 'CA', 'NumberImpossible'],
  ['223 4567', 'CA', 'NumberImpossible'],
  ['+1 223 4567', 'CA', 'NumberImpossible'],
  // Signs that look like a plus, or mean something of their own.
  ['﹢65 6555 0101', 'US', 'NumberImpossible'],
  ['⁺65 6555 0101', 'US', 'NumberImpossible'],
  ['➕65 6555 0101', 'US', 'NumberImpossible'],
  ['₊65 6555 0101', 'US', 'NumberImpossible'],
  ['++65 6555 0101', 'US', 'NumberImpossible'],
  ['+＋65 6555 0101', 'US', 'NumberImpossible'],
  ['±65 6555 0101', 'US', 'NumberImpossible'],
  ['-202 555 0143', 'US', 'NumberImpossible'],
  ['−202 555 0143', 'US', 'NumberImpossible'],
  ['.202 555 0143', 'US', 'NumberImpossible'],
  ['*202 555 0143', 'US', 'NumberImpossible'],
  ['/202 555 0143', 'US', 'NumberImpossible'],
  ['+49 30 123456＋49 30 123457', 'US', 'NumberImpossible'],
  ['+49 30 123456+49 30 123457', 'US', 'NumberImpossible'],
]

t.test('a plus is read in both widths, and no other sign in front of a number', async (t) => {
  for (const [text, region, expected] of cases) {
    const { number, fault } = new E164Numbers(region).read(text)
    t.equal(fault ?? number, expected, `${text} ${region}`)
  }
})

const REGIONS =
  'US CA GB DE FR IT ES PT NL BE CH AT SE NO DK FI PL CZ HU RO GR TR RU UA IL AE SA IN PK CN JP KR TW TH VN ID AU NZ MX BR'
    .split(' ')
    .map((region) => ({ region, numbers: new E164Numbers(region), code: codeOf(region) }))

t.test('no number becomes another than with the library of Google', async (t) => {
  t.equal(REGIONS.length, 40)
  const rejected = new Map<string, number>()
  let sameCount = 0
  const property = fc.property(notation, ([{ region, numbers, code }, text]) => {
    const { number } = numbers.read(text)
    const byGoogle = readByGoogle(text, region)
    if (number === '') {
      if (byGoogle === undefined) return true
      const kind = kindOf(text)
      rejected.set(kind, (rejected.get(kind) ?? 0) + 1)
      return true
    }
    if (number.length > EXACT_LENGTH) return true
    sameCount++
    const expected = isOfBothPlans(byGoogle) ? byGoogle : readBeyondGoogle(text, region)
    return number === expected || isInvalidAsWritten(number, text, code)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 4_000, soak: 100_000 }) })
  t.ok(sameCount > 500, `${sameCount} numbers were taken`)
  for (const [kind, count] of rejected) t.comment(`only Google takes ${count} ${kind}`)
})

/** The library in JavaScript keeps the digits of a longer number as a double, and rounds them. */
const EXACT_LENGTH = '+62'.length + 15

/** What is documented beyond Google's library: signs that cannot be seen, and `00` everywhere. */
function readBeyondGoogle(text: string, region: string): string | undefined {
  const visible = text.replace(/[\s\p{Cf}]/gu, '')
  return [visible, visible.replace(/^(tel:)?[([（［]*0[-().]*0/i, '+')]
    .map((written) => readByGoogle(written, region))
    .find(isOfBothPlans)
}

/**
 * The two libraries have the plans of different months. Benin's numbers got two digits more: where 009 is dialled in front
 * of a calling code, 00922 90000000 was one of Benin, and can only be one of Pakistan by now.
 */
function isOfBothPlans(number: string | undefined): number is string {
  return number !== undefined && parsePhoneNumberFromString(number)?.isPossible() === true
}

/**
 * Google's takes a prefix off twice where what is left would be no valid number either way: 1 1000000000, and 64 0 000000000.
 * Here it is taken off once at most.
 */
function isInvalidAsWritten(number: string, text: string, code: number): boolean {
  const digits = text.replace(/[０-９٠-٩۰-۹]/g, digitOf).replace(/\D/g, '')
  const national = number.slice(`+${code}`.length)
  const written = new RegExp(`^(${code})?[018]?${national}$`)
  const isWritten = number.startsWith(`+${code}`) && written.test(digits)
  return isWritten && !google.isValidNumber(google.parse(number, 'ZZ'))
}

/** Each of these scripts has its digits in order, from a multiple of 16 on. */
function digitOf(character: string): string {
  return String(character.charCodeAt(0) & 15)
}

/** Where the sign may be that is not taken: Google's skips what is around a number, and cuts at what is inside. */
function kindOf(text: string): string {
  const visible = text.replace(/[\s\p{Cf}]/gu, '')
  const front = /^(?:tel:)?(\P{Nd}*)/iu.exec(visible)?.[1] ?? ''
  if (/[+＋].*[+＋]/u.test(front)) return 'with two pluses in front'
  if (/[^([（［+＋]/u.test(front)) return 'with another sign in front'
  if (/\p{Nd}.*[+＋]/u.test(visible)) return 'with a plus inside'
  return /\P{Nd}$/u.test(visible) ? 'with a sign behind' : 'with a sign inside'
}

function readByGoogle(text: string, region: string): string | undefined {
  try {
    const number = google.parse(text, region)
    if (google.isPossibleNumberWithReason(number) !== 0) return undefined
    return google.format(number, PhoneNumberFormat.E164)
  } catch {
    return undefined
  }
}

function codeOf(region: string): number {
  return google.getCountryCodeForRegion(region)
}

/** Digits that begin as numbers of the region do, or at random. */
function nationalOf(region: string): fc.Arbitrary<string> {
  const kinds = [PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE]
  const examples = kinds.map((kind) =>
    google.getNationalSignificantNumber(google.getExampleNumberForType(region, kind)),
  )
  const random = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })
  return fc.oneof(
    ...examples.map((example) =>
      fc
        .integer({ min: 0, max: example.length })
        .chain((kept) => random(example.length - kept).map((end) => example.slice(0, kept) + end)),
    ),
    fc.integer({ min: 4, max: 15 }).chain(random),
  )
}

const SCRIPTS = ['０', '٠', '۰', '०'].map((zero) => zero.charCodeAt(0))
const space = fc.constantFrom(
  ...[' ', '\u00a0', '\u2009', '\u202f', '\u3000', '\u200b', '\u2060', '\u00ad', '\ufeff'],
  ...['\u200e', '\u200f', '\u202a', '\u202d', '\u2066', '\u061c', '\u180e'],
)
const minus = fc.constantFrom(...'-‐‑‒–—―−ー－﹣﹘⁻₋~∼～')
const other = fc.constantFrom(...'/／.．·•,;:|*#_\'"&xX')
const bracket = fc.constantFrom(...'()（）[]［］﹙﹚⁽⁾{}【】')
const plus = fc.constantFrom(...'+＋', ...'+＋', ...'﹢⁺₊➕±')
const nothing = fc.constant('')
const between = fc.oneof(
  { weight: 12, arbitrary: nothing },
  { weight: 4, arbitrary: fc.constantFrom(' ', '-', '.', ') ', ' (', '/') },
  { weight: 1, arbitrary: fc.oneof(space, minus, bracket) },
  { weight: 1, arbitrary: fc.oneof({ weight: 8, arbitrary: nothing }, other, plus) },
)
const around = fc.oneof(
  { weight: 5, arbitrary: nothing },
  { weight: 1, arbitrary: fc.oneof(space, minus, bracket, other, plus) },
)

const notation = fc.constantFrom(...REGIONS).chain((place) =>
  fc.constantFrom(place, ...REGIONS).chain(({ region, code }) => {
    const start = fc.oneof(
      nothing,
      fc.constantFrom('0', '1', '8', '00', '011', '010', '0011', '8~10'),
      fc.tuple(plus, around, fc.constant(String(code))).map((parts) => parts.join('')),
      fc.constantFrom('', '00', '011', '010').map((prefix) => `${prefix}${code}`),
      fc.tuple(plus, fc.constantFrom(`${code}(0)`, `${code} 0`)).map((parts) => parts.join('')),
    )
    const parts = fc.tuple(
      fc.constantFrom('', '', '', '', 'tel:'),
      around,
      start,
      nationalOf(region),
      fc.array(between, { minLength: 16, maxLength: 16 }),
      fc.oneof({ weight: 6, arbitrary: nothing }, fc.constantFrom(...SCRIPTS)),
      around,
    )
    return parts.map(([scheme, front, first, digits, gaps, zero, end]) => {
      const spread = [...digits].map((digit, i) => gaps[i] + digit).join('')
      const text = scheme + front + first + spread + end
      const script = (digit: string) => String.fromCharCode(Number(zero) + Number(digit))
      return [place, zero === '' ? text : text.replace(/[0-9]/g, script)] as const
    })
  }),
)

interface GoogleLibrary {
  readonly PhoneNumberUtil: { getInstance(): GoogleUtil }
  readonly PhoneNumberFormat: { readonly E164: number }
  readonly PhoneNumberType: { readonly FIXED_LINE: number; readonly MOBILE: number }
}

interface GoogleUtil {
  parse(text: string, region: string): unknown
  isPossibleNumberWithReason(number: unknown): number
  isValidNumber(number: unknown): boolean
  format(number: unknown, format: number): string
  getCountryCodeForRegion(region: string): number
  getExampleNumberForType(region: string, type: number): unknown
  getNationalSignificantNumber(number: unknown): string
}
