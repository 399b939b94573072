/**
 * The header of a CSV file: which delimiter it uses and where the columns are.
 *
 * @module
 */
import type { ColumnNames } from '../batch.js'
import { type ColumnChoice, hasColumns } from '../choose-columns.js'
import { chooseWithPoint } from '../rows/point-column.js'

export interface Header {
  readonly delimiter: string
  readonly columnCount: number
  readonly chosen: ColumnChoice
  readonly phoneIndex: number
  readonly latIndex: number
  readonly lngIndex: number
  /** Whether latitude and longitude are one column, of points. */
  readonly isPoint: boolean
  /** -1 when there is no such column. */
  readonly contactIndex: number
  readonly keyIndex: number
}

const delimiters = [',', ';', '\t', '|']

/** Reads the header from its line. */
export function readHeader(file: string, line: string, wanted: ColumnNames): Header {
  const readings = readingsOf(line)
  const reading = readings.find(({ names }) => hasColumns(names, wanted)) ?? longest(readings)
  const { delimiter, names } = reading
  const { chosen, point } = chooseWithPoint(file, names, wanted)
  const indexOf = (name: string | undefined) => (name === undefined ? -1 : names.indexOf(name))
  return {
    delimiter,
    columnCount: names.length,
    chosen,
    phoneIndex: indexOf(chosen.number),
    latIndex: indexOf(chosen.lat),
    lngIndex: indexOf(chosen.lng),
    isPoint: point !== undefined,
    contactIndex: indexOf(chosen.contact),
    keyIndex: indexOf(chosen.key),
  }
}

/** By the delimiter that gives the most of them. */
export function columnNames(line: string): readonly string[] {
  return longest(readingsOf(line)).names
}

interface Reading {
  readonly delimiter: string
  readonly names: readonly string[]
}

function readingsOf(line: string): Reading[] {
  return delimiters.map((delimiter) => ({ delimiter, names: namesIn(line, delimiter) }))
}

function longest(readings: readonly Reading[]): Reading {
  return readings.reduce((best, next) => (next.names.length > best.names.length ? next : best))
}

/** The columns that are not ignored. */
export function usedIndexes({
  phoneIndex,
  latIndex,
  lngIndex,
  contactIndex,
  keyIndex,
}: Header): number[] {
  return [phoneIndex, latIndex, lngIndex, contactIndex, keyIndex].filter((index) => index !== -1)
}

/** Trimmed; none if the line cannot be read with this delimiter. */
function namesIn(line: string, delimiter: string): string[] {
  const names: string[] = []
  // One field: in quotation marks, those inside doubled, or up to the next delimiter.
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\${delimiter}][^\\${delimiter}]*|))`, 'y')
  for (;;) {
    const found = field.exec(line)
    if (found === null) return []
    names.push((found[1]?.replaceAll('""', '"') ?? found[2]).trim())
    const at = found.index + found[0].length
    if (at === line.length) return names
    if (line[at] !== delimiter) return []
    field.lastIndex = at + 1
  }
}
