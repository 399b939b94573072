/**
 * The SQL by which DuckDB checks and converts the rows of a file, whatever its format. Rows of
 * PostgreSQL go through the same rules in row-rules.ts.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { phoneSqlRules, SQL_BLANK } from '../../phone-number.js'
import type { RowOptions } from '../batch.js'
import { notationSqlRules, SQL_USUAL_NUMBER } from './notation.js'
import { isReadable, type RejectReason, rejectReasons } from './rejects.js'

/** How the rows of an input are got at in SQL. */
export interface RowSource {
  /** The text behind FROM. */
  readonly from: string
  /** Which of its rows count; all if absent. */
  readonly where?: string
  /** Texts, null where there is none. */
  readonly number: string
  readonly contact?: string
  readonly key?: string
  readonly lat: CoordinateSource
  readonly lng: CoordinateSource
  /** Further columns, by name, for `rules`. */
  readonly further?: Readonly<Record<string, string>>
  /** The rules that come before all others, over `number`, `lat`, `lng` and so on, and `further`. */
  readonly rules: readonly Rule[]
  /** Whether a row has one position, whose texts can be told with a rejected row; all have if absent. */
  readonly hasPosition?: string
  /** Line ends inside fields; none if absent. */
  readonly breaks?: string
  /** Whether no text has a control character, and `rules` reject nothing. */
  readonly isPlain?: boolean
}

/** A text that is to be read as a decimal number, or a number. */
export type CoordinateSource = { readonly text: string } | { readonly double: string }

export type Rule = readonly [condition: string, reason: RejectReason]

/** Where the columns of `rowQuery` are; -1 for those that the source does not have. */
export interface RowLayout {
  readonly reason: number
  readonly lat: number
  readonly lng: number
  readonly number: number
  readonly contact: number
  readonly key: number
  readonly breaks: number
  /** The texts of a row as they were read; empty where there is none. */
  readonly phoneText: number
  readonly latText: number
  readonly lngText: number
}

const reasons = Object.keys(rejectReasons) as RejectReason[]
/** The number for a row that is taken; the reasons follow in the order of their table. */
export const ACCEPTED = 0

/** A latitude in units that no row has. */
export const NO_POSITION = -(2 ** 31)
/** Longitudes beside it: valid as a latitude, with the other as a longitude; or as of metres. */
export const EXCHANGED = -(2 ** 31)
export const PROJECTED = 1 - 2 ** 31

export function reasonCode(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1
}

/** The inverse of `reasonCode`. */
export function reasonOf(code: number): RejectReason {
  return reasons[code - 1]
}

const LAT_DEGREES_MAX = 90
const LNG_DEGREES_MAX = 180
const UNITS_PER_DEGREE = '1e7'
/** As it would be stored. */
const IS_ELSEWHERE = `${unitsOf('lat')} <> 0 OR ${unitsOf('lng')} <> 0`
/** TRY_CAST takes 1_000, +-1, inf, nan and all white space, too: `textRules`. */
const DECIMAL = '[ \\t]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ \\t]*'

/**
 * Every row in the order of the input: a reason or ACCEPTED, the units, the texts as BLOB (as VARCHAR
 * each would be decoded), the line ends. Nothing is null, and the texts of what is rejected are empty.
 * The latitude of what is rejected is NO_POSITION, unless the position could be used.
 *
 * @param keepsTexts  whether the texts as they were read are there as well, of all rows
 */
export function rowQuery(
  source: RowSource,
  options: RowOptions,
  keepsTexts: boolean,
): { readonly sql: string; readonly layout: RowLayout } {
  const taken = (value: string, otherwise: string) =>
    `CASE WHEN reason = ${ACCEPTED} THEN ${value} ELSE ${otherwise} END`
  const columns = [
    'reason',
    `${taken(unitsOf('lat'), rejectedLat(source, options))}::INTEGER`,
    `${taken(unitsOf('lng'), rejectedLng)}::INTEGER`,
    `encode(${taken('number', `''`)})`,
  ]
  const add = (isThere: boolean, column: string) => (isThere ? columns.push(column) - 1 : -1)
  const layout: RowLayout = {
    ...{ reason: 0, lat: 1, lng: 2, number: 3 },
    contact: add(source.contact !== undefined, `encode(${taken('contact', `''`)})`),
    key: add(source.key !== undefined, `encode(${taken('key', `''`)})`),
    breaks: add(source.breaks !== undefined, 'breaks'),
    phoneText: add(keepsTexts, textOf('number')),
    latText: add(keepsTexts, textOf(ofPosition(source, 'lat'))),
    lngText: add(keepsTexts, textOf(ofPosition(source, 'lng'))),
  }
  const sql = `
    SELECT ${columns.join(', ')}
    FROM (SELECT *, ${reasonCase(source, options)}::UTINYINT AS reason FROM (${innerQuery(source, options)}))`
  return { sql, layout }
}

function ofPosition(source: RowSource, name: 'lat' | 'lng'): string {
  const column = 'text' in source[name] ? `${name}_read` : name
  const { hasPosition } = source
  return hasPosition === undefined ? column : `CASE WHEN ${hasPosition} THEN ${column} END`
}

function textOf(column: string): string {
  return `encode(coalesce(${column}::VARCHAR, ''))`
}

/** Of a row that is rejected: only there the rules of positions are asked again. */
function rejectedLat(source: RowSource, options: RowOptions): string {
  const unreadable = reasons.filter((reason) => !isReadable(reason)).map(reasonCode)
  const faults = positionRules(source, options).map(
    ([condition]) => `WHEN ${condition} THEN ${NO_POSITION}`,
  )
  // Of more than a few constants, IN is a join, which loses the order of the rows.
  return `CASE WHEN list_contains([${unreadable.join(', ')}], reason) THEN ${NO_POSITION}
    ${faults.join('\n')} ELSE ${unitsOf('lat')} END`
}

/** It counts beside a latitude. Otherwise it may say what is wrong with both. */
const rejectedLng = `CASE
  WHEN abs(lat) > ${LNG_DEGREES_MAX} AND abs(lng) > ${LNG_DEGREES_MAX} THEN ${PROJECTED}
  WHEN reason = ${reasonCode('LatOutOfRange')} AND abs(lat) <= ${LNG_DEGREES_MAX}
    AND abs(lng) <= ${LAT_DEGREES_MAX} THEN ${EXCHANGED}
  WHEN abs(lng) <= ${LNG_DEGREES_MAX} THEN ${unitsOf('lng')} ELSE 0 END`

function unitsOf(name: 'lat' | 'lng'): string {
  return `round(${name} * ${UNITS_PER_DEGREE})`
}

function innerQuery(source: RowSource, { hasDecimalComma }: RowOptions): string {
  const columns: Record<string, string> = { ...source.further, number: source.number }
  for (const name of ['lat', 'lng'] as const) {
    const coordinate = source[name]
    if ('double' in coordinate) {
      columns[name] = coordinate.double
      continue
    }
    const { text } = coordinate
    const decimal = hasDecimalComma === true ? `replace(${text}, ',', '.')` : text
    columns[`${name}_read`] = text
    columns[`${name}_text`] = decimal
    columns[name] = `TRY_CAST(${decimal} AS DOUBLE)`
  }
  if (source.contact !== undefined) columns.contact = blankIsEmpty(source.contact)
  if (source.key !== undefined) columns.key = blankIsEmpty(source.key)
  if (source.breaks !== undefined) columns.breaks = `(${source.breaks})::UINTEGER`
  const list = Object.entries(columns).map(([name, value]) => `${value} AS ${name}`)
  const where = source.where === undefined ? '' : `WHERE ${source.where}`
  return `SELECT ${list.join(', ')} FROM ${source.from} ${where}`
}

/** A comparison spares nearly all rows the regular expression; ascii() costs more. */
function blankIsEmpty(column: string): string {
  return `CASE WHEN ${column} BETWEEN '!' AND '~' THEN ${column}
    WHEN ${column} IS NULL OR regexp_full_match(${column}, '${SQL_BLANK}') THEN ''
    ELSE ${column} END`
}

/**
 * The first reason that applies, in the order of their table. DuckDB compiles each test as often as it is written: that
 * of a usual number stands once before all rules of notations, and what has none of their reasons goes to the second CASE.
 */
function reasonCase(source: RowSource, options: RowOptions): string {
  const { e164Region } = options
  const rules = positionRules(source, options)
  if (source.contact !== undefined) {
    rules.push([`strlen(contact) > ${limits.contactBytes}`, 'ContactTooLong'])
  }
  if (source.key !== undefined) {
    rules.push([`key = ''`, 'KeyMissing'], [`strlen(key) > ${limits.keyBytes}`, 'KeyTooLong'])
  }
  const first = casesOf([...source.rules, ...phoneSqlRules])
  // One cheap test spares nearly all rows all others.
  if (source.isPlain === true) first.unshift(`WHEN ${ordinary(source)} THEN ${ACCEPTED}`)
  const notations = casesOf(notationSqlRules(e164Region !== undefined))
  return `coalesce(
    CASE ${first.join('\n')} WHEN NOT ${SQL_USUAL_NUMBER} THEN CASE ${notations.join('\n')} END END,
    CASE ${casesOf(rules).join('\n')} ELSE ${ACCEPTED} END)`
}

function casesOf(rules: readonly Rule[]): string[] {
  return rules.map(([condition, reason]) => `WHEN ${condition} THEN ${reasonCode(reason)}`)
}

/**
 * Holds only for rows that no rule rejects, where there are no control characters. A usual number has no
 * other unusual ones. A coordinate that can be cast and has neither _ nor
 * a sign or white space in front but - is one, up to blanks behind it.
 */
function ordinary({ lat, lng, contact, key }: RowSource): string {
  const tests = [
    SQL_USUAL_NUMBER,
    `strlen(number) <= ${limits.phoneBytes}`,
    `lat BETWEEN -${LAT_DEGREES_MAX} AND ${LAT_DEGREES_MAX}`,
    `lng BETWEEN -${LNG_DEGREES_MAX} AND ${LNG_DEGREES_MAX}`,
    `(${IS_ELSEWHERE})`,
  ]
  if ('text' in lat) tests.push(`lat_text >= '-' AND NOT contains(lat_text, '_')`)
  if ('text' in lng) tests.push(`lng_text >= '-' AND NOT contains(lng_text, '_')`)
  if (contact !== undefined) tests.push(`strlen(contact) <= ${limits.contactBytes}`)
  if (key !== undefined) tests.push(`key <> '' AND strlen(key) <= ${limits.keyBytes}`)
  return tests.join(' AND ')
}

function positionRules({ lat, lng }: RowSource, { allowsNullIsland }: RowOptions): Rule[] {
  const rules = [
    ...coordinateRules('lat', lat, LAT_DEGREES_MAX),
    ...coordinateRules('lng', lng, LNG_DEGREES_MAX),
  ]
  if (allowsNullIsland !== true) rules.push([`NOT (${IS_ELSEWHERE})`, 'PositionZero'])
  return rules
}

function coordinateRules(
  name: 'lat' | 'lng',
  source: CoordinateSource,
  degreesMax: number,
): Rule[] {
  const [missing, invalid, outOfRange]: RejectReason[] =
    name === 'lat'
      ? ['LatMissing', 'LatInvalid', 'LatOutOfRange']
      : ['LngMissing', 'LngInvalid', 'LngOutOfRange']
  const checks: Rule[] =
    'text' in source
      ? textRules(name, missing, invalid)
      : [
          [`${name} IS NULL`, missing],
          [`NOT isfinite(${name})`, invalid],
        ]
  return [...checks, [`abs(${name}) > ${degreesMax}`, outOfRange]]
}

function textRules(name: string, missing: RejectReason, invalid: RejectReason): Rule[] {
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
  ]
}
