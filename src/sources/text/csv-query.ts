/**
 * The rows of a CSV file in SQL.
 *
 * @module
 */

import { pointRows, wktOfHex } from '../rows/point-column.js'
import type { RowSource } from '../rows/row-query.js'
import type { Header } from './header.js'

/**
 * @param from  of `readText`
 * @param isPlain  whether each record is known to be one line without control characters
 */
export function csvRows(from: string, header: Header, isPlain: boolean): RowSource {
  const { phoneIndex, latIndex, lngIndex, contactIndex, keyIndex, isPoint } = header
  const position = isPoint
    ? pointRows(from, wktOfHex(`c${latIndex}`))
    : { from, lat: { text: `c${latIndex}` }, lng: { text: `c${lngIndex}` }, rules: [] }
  return {
    ...position,
    number: `c${phoneIndex}`,
    ...(contactIndex === -1 ? {} : { contact: `c${contactIndex}` }),
    ...(keyIndex === -1 ? {} : { key: `c${keyIndex}` }),
    ...(isPlain ? {} : { breaks: breakCount(header.columnCount) }),
    isPlain: isPlain && !isPoint,
  }
}

/** As survey.ts counts them. */
function breakCount(columnCount: number): string {
  const columns = Array.from({ length: columnCount }, (_, index) => `c${index}`)
  const text = `concat_ws(' ', ${columns.join(', ')})`
  const unified = `replace(replace(${text}, chr(13) || chr(10), chr(10)), chr(13), chr(10))`
  return `CASE WHEN contains(${text}, chr(10)) OR contains(${text}, chr(13))
    THEN strlen(${unified}) - strlen(replace(${unified}, chr(10), '')) ELSE 0 END`
}
