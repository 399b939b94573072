/**
 * The rule for the phone number of a recipient: one rule for imports, suppression lists and
 * requests, as a test of bytes, of text, and in SQL. Tests hold the three to each other.
 *
 * @module
 */
import { limits } from './limits.js'

export type PhoneFault = 'NumberEmpty' | 'NumberTooLong' | 'NumberUnprintable' | 'NumberFormula'

/** What else is written than a telephone number. */
export type NotationFault =
  | 'NumberErrorCell'
  | 'NumberQuoted'
  | 'NumberDecimal'
  | 'NumberAmount'
  | 'NumberSeveral'
  | 'NumberLetters'
  | 'NumberForeignDigits'
  | 'NumberWithoutDigits'
  | 'NumberZero'

/** The first fault of the phone at [start, end), which must be UTF-8; an empty range is no phone. */
export function phoneBytesFault(bytes: Buffer, start: number, end: number): PhoneFault | undefined {
  if (isBlank(bytes, start, end)) return 'NumberEmpty'
  if (end - start > limits.phoneBytes) return 'NumberTooLong'
  if (hasControl(bytes, start, end)) return 'NumberUnprintable'
  if (bytes[start] === EQUALS || bytes[start] === AT) return 'NumberFormula'
  return undefined
}

/** The first fault of a phone. Half a surrogate pair is unprintable, for it has no UTF-8. */
export function phoneTextFault(text: string): PhoneFault | undefined {
  const bytes = Buffer.from(text)
  const fault = phoneBytesFault(bytes, 0, bytes.length)
  const comesLater = fault === undefined || fault === 'NumberFormula'
  return comesLater && /\p{Cs}/u.test(text) ? 'NumberUnprintable' : fault
}

/** Whether there is nothing but white space of Unicode in [start, end). */
export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  // Nearly all texts begin with a printing character and are not decoded.
  if (start === end) return true
  if (bytes[start] > 0x20 && bytes[start] < 0x7f) return false
  return /^\s*$/.test(bytes.toString('utf8', start, end))
}

/** What `isBlank` matches, as a regular expression of DuckDB. */
export const SQL_BLANK = '[\\s\\x{0b}\\p{Z}\\x{feff}]*'

const EQUALS = 0x3d
const AT = 0x40

/**
 * An integer without anything around it: most phones, and regular expressions are what takes
 * longest. The cast allows white space around it, the ends rule that out.
 */
const SQL_PLAIN = `TRY_CAST(number AS HUGEINT) IS NOT NULL
  AND ascii(number) > 32 AND ascii(right(number, 1)) > 32`

/** The conditions of `phoneFault` over a column `number`, in its order. */
export const phoneSqlRules: readonly (readonly [condition: string, fault: PhoneFault])[] = [
  [`number IS NULL OR number = ''`, 'NumberEmpty'],
  [
    `NOT ascii(number) BETWEEN 33 AND 126 AND regexp_full_match(number, '${SQL_BLANK}')`,
    'NumberEmpty',
  ],
  [`strlen(number) > ${limits.phoneBytes}`, 'NumberTooLong'],
  [`NOT (${SQL_PLAIN}) AND regexp_matches(number, '\\p{Cc}')`, 'NumberUnprintable'],
  [`ascii(number) IN (${EQUALS}, ${AT})`, 'NumberFormula'],
]

/** U+0000 to U+001F, and U+007F to U+009F, which UTF-8 begins with C2. */
function hasControl(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte < 0x20 || byte === 0x7f) return true
    if (byte === 0xc2 && bytes[at + 1] <= 0x9f) return true
  }
  return false
}
