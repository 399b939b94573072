/**
 * The rows of a CSV file in SQL.
 *
 * @module
 */

import { pointRows, wktOfHex } from '../rows/point-column.js'
import { hasBreak, type RowSource, type Rule } from '../rows/row-query.js'
import type { Header } from './header.js'

/**
 * @param from  of `readText`
 * @param isPlain  whether each record is known to be one line without control characters
 */
export function csvRows(from: string, header: Header, isPlain: boolean): RowSource {
  const { phoneIndex, latIndex, lngIndex, contactIndex, keyIndex, isPoint } = header
  const ignored = ignoredColumns(header)
  const position = isPoint
    ? pointRows(from, wktOfHex(`c${latIndex}`))
    : { from, lat: { text: `c${latIndex}` }, lng: { text: `c${lngIndex}` }, rules: [] }
  // A line end in one of these means that a quotation mark is missing: rows have gone into the field.
  const unbroken = ['number', 'lat_text', 'lng_text']
  if (contactIndex !== -1) unbroken.push('contact')
  if (keyIndex !== -1) unbroken.push('key')
  const breakRules = unbroken.map((column): Rule => [hasBreak(column), 'QuoteMalformed'])
  return {
    ...position,
    number: `c${phoneIndex}`,
    ...(contactIndex === -1 ? {} : { contact: `c${contactIndex}` }),
    ...(keyIndex === -1 ? {} : { key: `c${keyIndex}` }),
    ...(ignored.length === 0 || isPlain ? {} : { breaks: breakCount(ignored) }),
    rules: isPlain ? position.rules : [...breakRules, ...position.rules],
    isPlain: isPlain && !isPoint,
  }
}

function ignoredColumns(header: Header): string[] {
  const { phoneIndex, latIndex, lngIndex, contactIndex, keyIndex } = header
  const used = [phoneIndex, latIndex, lngIndex, contactIndex, keyIndex]
  return Array.from({ length: header.columnCount }, (_, index) => index)
    .filter((index) => !used.includes(index))
    .map((index) => `c${index}`)
}

/** As survey.ts counts them. */
function breakCount(columns: readonly string[]): string {
  const text = `concat(${columns.join(', ')})`
  const unified = `replace(replace(${text}, chr(13) || chr(10), chr(10)), chr(13), chr(10))`
  return `CASE WHEN ${hasBreak(text)}
    THEN strlen(${unified}) - strlen(replace(${unified}, chr(10), '')) ELSE 0 END`
}
