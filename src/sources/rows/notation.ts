/**
 * Numbers of an import that are written as no telephone number is: what spreadsheets and data frames
 * leave in a column of numbers, and words. As a test of bytes and in SQL; a property test compares the
 * two. Suppression lists are not held to this, so that whatever was imported once can be suppressed.
 *
 * @module
 */
import type { RejectReason } from './rejects.js'

type NotationFault = Extract<
  RejectReason,
  'NumberErrorCell' | 'NumberDecimal' | 'NumberLetters' | 'NumberWithoutDigits'
>

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
  if (DECIMAL.test(text)) return 'NumberDecimal'
  if (isReadLater) return undefined
  if (LETTER.test(text) && !EXTENSION.test(text)) return 'NumberLetters'
  return DIGIT.test(text) ? undefined : 'NumberWithoutDigits'
}

/** Texts, for both kinds of regular expressions: `#N/A`, `#REF!`, and what a narrow column shows. */
const SQL_ERROR_CELL = '^ *#(#* *$|\\p{L})'
/** 9.99E+11, of which digits are lost, and 9990000001.0. */
const SQL_DECIMAL = '^ *[+-]?([0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+|[0-9]{5,}[.,]0+) *$'
const SQL_LETTER = '\\p{L}'
/** One word between digits: `x12`, `ext. 12`, `;ext=12`. */
const SQL_EXTENSION =
  '^\\P{L}*[0-9]\\P{L}*([xX]|[eE][xX][tT]([nN]|[eE][nN][sS][iI][oO][nN])?)\\P{L}*[0-9]\\P{L}*$'
const SQL_DIGIT = '\\p{Nd}'

const ERROR_CELL = new RegExp(SQL_ERROR_CELL, 'u')
const DECIMAL = new RegExp(SQL_DECIMAL, 'u')
const LETTER = new RegExp(SQL_LETTER, 'u')
const EXTENSION = new RegExp(SQL_EXTENSION, 'u')
const DIGIT = new RegExp(SQL_DIGIT, 'u')

/**
 * Digits alone, up to white space, a sign and `_`. The cast takes 1.5 and 1e5 as well, but of HUGEINT
 * not 0x1F.
 */
const SQL_DIGITS = `TRY_CAST(number AS HUGEINT) IS NOT NULL
  AND NOT contains(number, '.') AND NOT contains(number, 'e') AND NOT contains(number, 'E')`
/** As people write them: (555) 555-0101. One expression spares these numbers four others. */
const SQL_FORMATTED = '[+(]?[0-9][-0-9() /]*'

/** Holds only for numbers without a fault of their notation, and without a control character but for white space. */
export const SQL_USUAL_NUMBER = `((${SQL_DIGITS}) OR regexp_full_match(number, '${SQL_FORMATTED}'))`

const unusual = (pattern: string) =>
  `NOT (${SQL_USUAL_NUMBER}) AND regexp_matches(number, '${pattern}')`

type SqlRule = readonly [condition: string, reason: RejectReason]

const spreadsheetRules: readonly SqlRule[] = [
  [
    `ascii(ltrim(number, ' ')) = ${'#'.charCodeAt(0)} AND ${unusual(SQL_ERROR_CELL)}`,
    'NumberErrorCell',
  ],
  [unusual(SQL_DECIMAL), 'NumberDecimal'],
]

const wordRules: readonly SqlRule[] = [
  [`${unusual(SQL_LETTER)} AND NOT regexp_matches(number, '${SQL_EXTENSION}')`, 'NumberLetters'],
  [
    `NOT (${SQL_USUAL_NUMBER}) AND NOT regexp_matches(number, '${SQL_DIGIT}')`,
    'NumberWithoutDigits',
  ],
]

/** The conditions of `notationFault` over a column `number`, in its order. */
export function notationSqlRules(isReadLater: boolean): readonly SqlRule[] {
  return isReadLater ? spreadsheetRules : [...spreadsheetRules, ...wordRules]
}

/** Whether there is a digit, and nothing else but what is between digits of nearly all numbers. */
function isUsual(bytes: Buffer, start: number, end: number): boolean {
  let hasDigit = false
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte >= 0x30 && byte <= 0x39) hasDigit = true
    else if (!USUAL_SIGNS.includes(byte)) return false
  }
  return hasDigit
}

const USUAL_SIGNS = Buffer.from('+-() /')
