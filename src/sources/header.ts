/**
 * The header of a CSV file: which delimiter it uses and where the columns are.
 *
 * @module
 */
import { OperatorError } from '../errors.js'

export interface Header {
  readonly delimiter: string
  readonly columnCount: number
  readonly numberIndex: number
  readonly latIndex: number
  readonly lngIndex: number
  /** -1 when there is no such column. */
  readonly contactIndex: number
}

const delimiters = [',', ';', '\t', '|']
const requiredColumns = ['number', 'lat', 'lng'] as const

/** What a column may be called for its name to be repeated: not a value of a lost header. */
const NAME = /^[\p{L}_][\p{L}\p{N}_ .-]{0,39}$/u
const NAMES_SHOWN = 20

/** Reads the header from its line. */
export function readHeader(path: string, line: string): Header {
  const readings = delimiters.map((delimiter) => ({
    delimiter,
    names: columnNames(line, delimiter),
  }))
  const hasAll = (names: readonly string[]) => requiredColumns.every((name) => names.includes(name))
  const reading =
    readings.find(({ names }) => hasAll(names)) ??
    readings.reduce((best, next) => (next.names.length > best.names.length ? next : best))
  const { delimiter, names } = reading
  return {
    delimiter,
    columnCount: names.length,
    numberIndex: requiredIndex(path, names, 'number'),
    latIndex: requiredIndex(path, names, 'lat'),
    lngIndex: requiredIndex(path, names, 'lng'),
    contactIndex: columnIndex(path, names, 'contact'),
  }
}

/** Trimmed and in lower case; none if the line cannot be read with this delimiter. */
function columnNames(line: string, delimiter: string): string[] {
  const names: string[] = []
  // One field: in quotation marks, those inside doubled, or up to the next delimiter.
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\${delimiter}][^\\${delimiter}]*|))`, 'y')
  for (;;) {
    const found = field.exec(line)
    if (found === null) return []
    names.push((found[1]?.replaceAll('""', '"') ?? found[2]).trim().toLowerCase())
    const at = found.index + found[0].length
    if (at === line.length) return names
    if (line[at] !== delimiter) return []
    field.lastIndex = at + 1
  }
}

function requiredIndex(path: string, names: readonly string[], name: string): number {
  const index = columnIndex(path, names, name)
  if (index !== -1) return index
  const shown = names.slice(0, NAMES_SHOWN).map((found) => (NAME.test(found) ? found : '?'))
  const rest = names.length > NAMES_SHOWN ? ', …' : ''
  const found = names.length === 0 ? 'no header could be read' : `found ${shown.join(', ')}${rest}`
  throw new OperatorError(
    'InputRejected',
    `${path} has no column "${name}" in its header: ${found}; needed are number, lat, lng`,
  )
}

function columnIndex(path: string, names: readonly string[], name: string): number {
  const index = names.indexOf(name)
  if (index !== names.lastIndexOf(name)) {
    throw new OperatorError('InputRejected', `${path} has more than one column "${name}"`)
  }
  return index
}
