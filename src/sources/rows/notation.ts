/**
 * Numbers of an import that are written as no telephone number is: what spreadsheets and data frames
 * leave in a column of numbers, words, and several numbers in one. As a test of bytes and in SQL; a property test compares the
 * two. Suppression lists are not held to this, so that whatever was imported once can be suppressed.
 *
 * @module
 */
import type { NotationFault } from '../../phone-number.js'
import type { RejectReason } from './rejects.js'

/**
 * The first fault of the notation of the phone at [start, end), which has no other fault.
 *
 * @param isReadLater  whether the numbers become E.164, which then decides on letters and other digits
 */
export function notationFault(
  bytes: Buffer,
  start: number,
  end: number,
  isReadLater: boolean,
): NotationFault | undefined {
  if (isUsual(bytes, start, end)) return undefined
  const text = bytes.toString('utf8', start, end)
  if (ERROR_CELL.test(text)) return 'NumberErrorCell'
  if (QUOTED.test(text)) return 'NumberQuoted'
  if (DECIMAL.test(text)) return 'NumberDecimal'
  if (AMOUNT.test(text)) return 'NumberAmount'
  if (SEPARATOR.test(text) && SEVERAL.test(text.replace(BETWEEN_DIGITS, ''))) return 'NumberSeveral'
  if (isReadLater) return undefined
  if (FOREIGN_LETTER.test(text)) return 'NumberLetters'
  if (/[A-Za-z]/.test(text) && !EXTENSION.test(text)) return 'NumberLetters'
  if (FOREIGN_DIGIT.test(text)) return 'NumberForeignDigits'
  if (/[1-9]/.test(text)) return undefined
  return text.includes('0') ? 'NumberZero' : 'NumberWithoutDigits'
}

/** Texts, for both kinds of regular expressions: `#N/A`, `#REF!`, and what a narrow column shows. */
const SQL_ERROR_CELL = '^ *#(#* *$|\\p{L})'
/** The ' by which spreadsheets mark a text that looks like a number, and what other programs make of it. */
const SQL_QUOTED = '^ *["\'`´‘’“”]'
/**
 * 9.99E+11, of which digits are lost, and 9990000001.0; 29.76, 1.5 and -95.36, which are positions and amounts. Telephone
 * numbers are 555.0101, 030.123456 and +1.5555550101.
 */
const SQL_DECIMAL =
  '^ *([+-]?([0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+|[0-9]{5,}[.,]0+)' +
  '|[+-]?[1-9]([0-9]*[.]|[0-9]{0,5},)([0-9]{1,2}|0+)|(0|[1-9][0-9]?|1[0-8][0-9])?[.,][0-9]+|-[0-9]*[.,][0-9]+) *$'
const DAY = '(0?[1-9]|[12][0-9]|3[01])'
const YEAR = '(19|20)[0-9]{2}'
/** $5, 5 %, 5/5/2026 and 9,990,000,001. */
const SQL_AMOUNT =
  `[\\p{Sc}%‰]|^ *(${DAY}[./-]${DAY}[./-]${YEAR}|${YEAR}[./-]${DAY}[./-]${DAY})( [0-9: ]*)?$` +
  '|^ *[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]+)? *$'
/** What may be between two numbers; and all that is not looked at when numbers are told apart. */
const SQL_SEPARATOR = '[;,/|:&\\\\]|.[+＋]'
const SQL_BETWEEN_DIGITS = '[^0-9A-Za-z;,/|:&\\\\+＋#*]'
/**
 * A plus behind digits, a sign that no number has, and two numbers of seven digits. One pause (`,` and `;`) may come
 * before a few digits, several or a # with many. What is in front of `/` may be a calling code and an area code. Over
 * texts without what is between digits: patterns that allow for it take DuckDB seconds.
 */
const SQL_SEVERAL =
  '[0-9][;,/|:&]*[+＋]|[0-9][|:&\\\\]+[0-9]' +
  '|([0-9]{7,}(,|;+)[0-9]|[0-9]{7,}/+0|(^[1-9][0-9]{6,}|[0-9]{10,})/+[0-9])[0-9]{6,}($|[;,/])'
/** Of other alphabets, and `é`. */
const SQL_FOREIGN_LETTER = '[^\\P{L}A-Za-z]'
/**
 * One word between digits: `x12`, `ext. 12`, `;ext=12`, where no letter is a foreign one. DuckDB compiles it for each
 * import, and `\\P{L}` instead of `[^A-Za-z]` takes ten times as long.
 */
const SQL_EXTENSION =
  '^[^A-Za-z]*[0-9][^A-Za-z]*([xX]|[eE][xX][tT]([nN]|[eE][nN][sS][iI][oO][nN])?)[^A-Za-z]*[0-9][^A-Za-z]*$'
/** ٩٩٩ and ９９９. */
const SQL_FOREIGN_DIGIT = '[^\\P{Nd}0-9]'

const ERROR_CELL = new RegExp(SQL_ERROR_CELL, 'u')
const DECIMAL = new RegExp(SQL_DECIMAL, 'u')
const AMOUNT = new RegExp(SQL_AMOUNT, 'u')
const SEPARATOR = new RegExp(SQL_SEPARATOR, 'u')
const BETWEEN_DIGITS = new RegExp(SQL_BETWEEN_DIGITS, 'gu')
const SEVERAL = new RegExp(SQL_SEVERAL, 'u')
const FOREIGN_LETTER = new RegExp(SQL_FOREIGN_LETTER, 'u')
const EXTENSION = new RegExp(SQL_EXTENSION, 'u')
const QUOTED = new RegExp(SQL_QUOTED, 'u')
const FOREIGN_DIGIT = new RegExp(SQL_FOREIGN_DIGIT, 'u')

/**
 * Digits alone, and not only zeros, up to white space, a sign and `_`. The cast takes 1.5 and 1e5 as well, but of
 * HUGEINT not 0x1F. A sign with a space behind it becomes 0.
 */
const SQL_DIGITS = `TRY_CAST(number AS HUGEINT) IS NOT NULL AND TRY_CAST(number AS HUGEINT) <> 0
  AND NOT contains(number, '.') AND NOT contains(number, 'e') AND NOT contains(number, 'E')`
/** As people write them: (555) 555-0101. One expression spares these numbers six others. Dates are shorter. */
const SQL_FORMATTED = '[+(]?(0[-0() ]*)?[1-9][-0-9() ]*[0-9]'
const DATE_LENGTH = '2026-05-05'.length

/** Holds only for numbers without a fault of their notation, and without a control character but for white space. */
export const SQL_USUAL_NUMBER = `((${SQL_DIGITS})
  OR (strlen(number) > ${DATE_LENGTH} AND regexp_full_match(number, '${SQL_FORMATTED}')))`

const matches = (pattern: string) => `regexp_matches(number, '${pattern}')`

type SqlRule = readonly [condition: string, reason: RejectReason]

const spreadsheetRules: readonly SqlRule[] = [
  [
    `ascii(ltrim(number, ' ')) = ${'#'.charCodeAt(0)} AND ${matches(SQL_ERROR_CELL)}`,
    'NumberErrorCell',
  ],
  [matches(SQL_QUOTED.replace("'", "''")), 'NumberQuoted'],
  [matches(SQL_DECIMAL), 'NumberDecimal'],
  [matches(SQL_AMOUNT), 'NumberAmount'],
  [
    `${matches(SQL_SEPARATOR)}
      AND regexp_matches(regexp_replace(number, '${SQL_BETWEEN_DIGITS}', '', 'g'), '${SQL_SEVERAL}')`,
    'NumberSeveral',
  ],
]

/** But 0. */
const HAS_NO_DIGIT = `NOT ${matches('[1-9]')}`

const wordRules: readonly SqlRule[] = [
  [matches(SQL_FOREIGN_LETTER), 'NumberLetters'],
  [`${matches('[A-Za-z]')} AND NOT ${matches(SQL_EXTENSION)}`, 'NumberLetters'],
  [matches(SQL_FOREIGN_DIGIT), 'NumberForeignDigits'],
  [`${HAS_NO_DIGIT} AND NOT contains(number, '0')`, 'NumberWithoutDigits'],
  [HAS_NO_DIGIT, 'NumberZero'],
]

/** The conditions of `notationFault` over a column `number` that is not usual, in its order. */
export function notationSqlRules(isReadLater: boolean): readonly SqlRule[] {
  return isReadLater ? spreadsheetRules : [...spreadsheetRules, ...wordRules]
}

/** Whether there are digits alone, one of them not 0, or nothing else but what is between digits of nearly all numbers. */
function isUsual(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === PLUS ? start + 1 : start
  let hasSign = first === end
  let isZero = true
  for (let at = first; at < end; at++) {
    const byte = bytes[at]
    if (isDigit(byte)) {
      if (byte !== ZERO) isZero = false
      continue
    }
    if (!USUAL_SIGNS.includes(byte)) return false
    hasSign = true
  }
  if (isZero) return false
  return !hasSign || (end - start > DATE_LENGTH && isDigit(bytes[end - 1]))
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

const PLUS = 0x2b
const ZERO = 0x30
const USUAL_SIGNS = Buffer.from('-() ')
