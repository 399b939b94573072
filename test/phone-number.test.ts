import fc from 'fast-check'
import t from 'tap'
import { limits } from '../src/limits.js'
import { type PhoneFault, phoneBytesFault, phoneTextFault } from '../src/phone-number.js'
import { codePoint } from './support/random/code-points.js'
import { testSeed } from './support/random/properties.js'

/** `test/sources/rows/row-rules.test.ts` holds the rule for bytes to that in SQL. */

const cases: readonly (readonly [phone: string, fault: PhoneFault | undefined])[] = [
  ['+9991', undefined],
  ['none', undefined],
  ['', 'NumberEmpty'],
  [' \u00a0\u2028\ufeff', 'NumberEmpty'],
  ['\u200b', undefined],
  ['9'.repeat(limits.phoneBytes), undefined],
  ['9'.repeat(limits.phoneBytes + 1), 'NumberTooLong'],
  ['é'.repeat(limits.phoneBytes / 2 + 1), 'NumberTooLong'],
  ['+999\u00071', 'NumberUnprintable'],
  ['+999\u0085', 'NumberUnprintable'],
  ['+999\ud83d', 'NumberUnprintable'],
  ['=\ud83d', 'NumberUnprintable'],
  ['=1', 'NumberFormula'],
  ['@1', 'NumberFormula'],
  [' =1', undefined],
]

t.test('a phone has the first fault that applies', async (t) => {
  for (const [at, [phone, fault]] of cases.entries()) {
    t.equal(phoneTextFault(phone), fault, `case ${at}`)
  }
})

const pieces = fc.constantFrom(
  ...[
    '+999',
    '1',
    ' ',
    '\t',
    '=',
    '@',
    'é',
    '😀',
    '\ud83d',
    '\udc00',
    '\u0085',
    '\u00a0',
    '\u0090',
  ],
  ...['\u2028', '\ufeff', '\u200b', '\x7f', '\x1f', '\x0b', '\u3000', '0'.repeat(31)],
)
const phones = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 6 }),
  fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
)

t.test('texts are held to what Unicode says, and bytes to texts', async (t) => {
  const property = fc.property(phones, (phone) => {
    const fault = phoneTextFault(phone)
    const bytes = Buffer.from(`before${phone}after`)
    const isWhole = !/\p{Cs}/u.test(phone)
    return (
      fault === expected(phone) &&
      (!isWhole || fault === phoneBytesFault(bytes, 'before'.length, bytes.length - 'after'.length))
    )
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 5_000 })
})

function expected(phone: string): PhoneFault | undefined {
  if (/^[\s\p{Z}\ufeff]*$/u.test(phone)) return 'NumberEmpty'
  if (Buffer.byteLength(phone) > limits.phoneBytes) return 'NumberTooLong'
  if (/[\p{Cc}\p{Cs}]/u.test(phone)) return 'NumberUnprintable'
  return /^[=@]/.test(phone) ? 'NumberFormula' : undefined
}
