/**
 * The SQL by which DuckDB reads, checks and converts the rows of a CSV file.
 *
 * @module
 */
import { limits } from '../limits.js'
import { quote, sqlPath } from './csv-database.js'
import type { Header } from './header.js'
import { type RejectReason, rejectReasons } from './rejects.js'
import type { LineEnd, Survey } from './survey.js'

/** The columns of `rowQuery`, in this order. */
export const rowColumns = { reason: 0, lat: 1, lng: 2, breaks: 3, number: 4, contact: 5 } as const
/** The columns of `rejectQuery`, in this order. */
export const rejectColumns = { record: 0, reason: 1, isOneLine: 2 } as const

const reasons = Object.keys(rejectReasons) as RejectReason[]
/** What stands for a row that is taken; the reasons follow in the order of their table. */
export const ACCEPTED = 0

/** Of a reason, in both queries. */
function reasonCode(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1
}

/** The inverse of `reasonCode`. */
export function reasonOf(code: number): RejectReason {
  return reasons[code - 1]
}

const LAT_DEGREES_MAX = 90
const LNG_DEGREES_MAX = 180
const UNITS_PER_DEGREE = '1e7'
/** TRY_CAST takes 1_000, +-1, inf, nan and all white space, too: `coordinateRules`. */
const DECIMAL = '[ \\t]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ \\t]*'
/** White space of Unicode: what String.prototype.trim takes away. */
const BLANK = '[\\s\\x{0b}\\p{Z}\\x{feff}]*'
/**
 * An integer without anything around it: most numbers, and regular expressions are what takes
 * longest. The cast allows white space around it, the ends rule that out.
 */
const PLAIN_NUMBER = `TRY_CAST(number AS HUGEINT) IS NOT NULL
  AND ascii(number) > 32 AND ascii(right(number, 1)) > 32`
const LF = 'chr(10)'
const CR = 'chr(13)'
const LINE_ENDS: Readonly<Record<LineEnd, string>> = { '\n': '\\n', '\r\n': '\\r\\n', '\r': '\\r' }

/**
 * Every record that has as many fields as the header, in the order of the file: a reason or
 * ACCEPTED, the units, the line ends inside fields that are ignored, the number, the contact.
 * Nothing is null. What cannot be told apart into fields goes to the table of `rejectQuery`.
 */
export function rowQuery(path: string, survey: Survey, header: Header): string {
  const { delimiter, columnCount, numberIndex, latIndex, lngIndex, contactIndex } = header
  const columns = Array.from({ length: columnCount }, (_, index) => `c${index}: 'VARCHAR'`)
  const ignored = ignoredColumns(header)
  const breaks = ignored.length === 0 ? '0' : breakCount(ignored)
  const contact = contactIndex === -1 ? `''` : contactText(`c${contactIndex}`)
  const options = [
    // Nothing is left to the sniffer: it gives up on dirty files.
    'auto_detect = false',
    `columns = {${columns.join(', ')}}`,
    `delim = ${quote(delimiter)}`,
    `quote = '"'`,
    `escape = '"'`,
    `new_line = '${LINE_ENDS[survey.lineEnd]}'`,
    // DuckDB's own header option takes a blank line for the header.
    'header = false',
    `skip = ${survey.headerLine}`,
    `compression = '${survey.isGzip ? 'gzip' : 'none'}'`,
    'hive_partitioning = false',
    // In parallel, it leaves out what follows some megabytes without a single good record.
    'parallel = false',
    `max_line_size = ${limits.recordBytes}`,
    'store_rejects = true',
    'rejects_limit = 0',
  ]
  return `
    SELECT
      reason,
      CASE WHEN reason = ${ACCEPTED} THEN round(lat * ${UNITS_PER_DEGREE}) ELSE 0 END::INTEGER,
      CASE WHEN reason = ${ACCEPTED} THEN round(lng * ${UNITS_PER_DEGREE}) ELSE 0 END::INTEGER,
      breaks,
      encode(CASE WHEN reason = ${ACCEPTED} THEN number ELSE '' END),
      encode(CASE WHEN reason = ${ACCEPTED} THEN contact ELSE '' END)
    FROM (
      SELECT *, ${reasonCase()}::UTINYINT AS reason
      FROM (
        SELECT
          c${numberIndex} AS number,
          c${latIndex} AS lat_text,
          TRY_CAST(c${latIndex} AS DOUBLE) AS lat,
          c${lngIndex} AS lng_text,
          TRY_CAST(c${lngIndex} AS DOUBLE) AS lng,
          ${contact} AS contact,
          (${breaks})::UINTEGER AS breaks
        FROM read_csv(${sqlPath(path)}, ${options.join(', ')})
      )
    )`
}

/** Every record that DuckDB rejected, by its number: its first reason, and if it is one line. */
export const rejectQuery = `
  SELECT
    line::UINTEGER,
    min(CASE error_type
      WHEN 'LINE SIZE OVER MAXIMUM' THEN ${reasonCode('RecordTooLong')}
      WHEN 'MISSING COLUMNS' THEN ${reasonCode('FieldCountWrong')}
      WHEN 'TOO MANY COLUMNS' THEN ${reasonCode('FieldCountWrong')}
      WHEN 'INVALID ENCODING' THEN ${reasonCode('EncodingInvalid')}
      ELSE ${reasonCode('QuoteMalformed')} END)::UTINYINT,
    NOT bool_or(regexp_matches(csv_line, '[^\\r\\n][\\r\\n]+[^\\r\\n]'))
  FROM reject_errors GROUP BY line ORDER BY line`

/** To be run before the next file: the numbers of records begin anew. */
export const forgetRejects = [
  'DROP TABLE IF EXISTS reject_errors',
  'DROP TABLE IF EXISTS reject_scans',
]

function ignoredColumns(header: Header): string[] {
  const used = [header.numberIndex, header.latIndex, header.lngIndex, header.contactIndex]
  return Array.from({ length: header.columnCount }, (_, index) => index)
    .filter((index) => !used.includes(index))
    .map((index) => `c${index}`)
}

/** As survey.ts counts them. */
function breakCount(columns: readonly string[]): string {
  const text = `concat(${columns.join(', ')})`
  const unified = `replace(replace(${text}, ${CR} || ${LF}, ${LF}), ${CR}, ${LF})`
  return `CASE WHEN ${hasBreak(text)}
    THEN strlen(${unified}) - strlen(replace(${unified}, ${LF}, '')) ELSE 0 END`
}

function hasBreak(text: string): string {
  return `contains(${text}, ${LF}) OR contains(${text}, ${CR})`
}

/** Empty when there is none: ascii() spares nearly all rows the regular expression. */
function contactText(column: string): string {
  return `CASE WHEN ascii(${column}) BETWEEN 33 AND 126 THEN ${column}
    WHEN ${column} IS NULL OR regexp_full_match(${column}, '${BLANK}') THEN ''
    ELSE ${column} END`
}

/** The first reason that applies, in the order of their table. */
function reasonCase(): string {
  const rules: [condition: string, reason: RejectReason][] = [
    // A quotation mark is missing, and the next row or rows have gone into this field.
    ...['number', 'lat_text', 'lng_text', 'contact'].map((column): [string, RejectReason] => [
      hasBreak(column),
      'QuoteMalformed',
    ]),
    [`number IS NULL OR number = ''`, 'NumberEmpty'],
    [
      `NOT ascii(number) BETWEEN 33 AND 126 AND regexp_full_match(number, '${BLANK}')`,
      'NumberEmpty',
    ],
    [`strlen(number) > ${limits.numberBytes}`, 'NumberTooLong'],
    [`NOT (${PLAIN_NUMBER}) AND regexp_matches(number, '\\p{Cc}')`, 'NumberUnprintable'],
    [`ascii(number) IN (${ascii('=')}, ${ascii('@')})`, 'NumberFormula'],
    ...coordinateRules('lat', LAT_DEGREES_MAX, ['LatMissing', 'LatInvalid', 'LatOutOfRange']),
    ...coordinateRules('lng', LNG_DEGREES_MAX, ['LngMissing', 'LngInvalid', 'LngOutOfRange']),
    [`strlen(contact) > ${limits.contactBytes}`, 'ContactTooLong'],
  ]
  const cases = rules.map(([condition, reason]) => `WHEN ${condition} THEN ${reasonCode(reason)}`)
  return `CASE ${cases.join('\n')} ELSE ${ACCEPTED} END`
}

function ascii(character: string): number {
  return character.charCodeAt(0)
}

function coordinateRules(
  name: 'lat' | 'lng',
  degreesMax: number,
  [missing, invalid, outOfRange]: readonly [RejectReason, RejectReason, RejectReason],
): [condition: string, reason: RejectReason][] {
  const text = `${name}_text`
  return [
    [`${text} IS NULL OR (${name} IS NULL AND trim(${text}, ' \t') = '')`, missing],
    // Whatever else the cast takes has one of these: most rows are spared the regular expression.
    [
      `${name} IS NULL OR ((NOT isfinite(${name}) OR contains(${text}, '_')
        OR contains(${text}, '+-') OR ascii(${text}) <= 32 OR ascii(right(${text}, 1)) <= 32)
        AND NOT regexp_full_match(${text}, '${DECIMAL}'))`,
      invalid,
    ],
    [`abs(${name}) > ${degreesMax}`, outOfRange],
  ]
}
