/**
 * The first record of a CSV file: which delimiter it uses and where the columns are.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { RecordScanner, unescapeField } from './csv.js'

export interface Header {
  readonly delimiter: number
  readonly fieldCount: number
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

/**
 * Reads the header record, which starts at `start`.
 *
 * @param end  the end of what is there; the record ends before it, or the text does
 */
export function readHeader(path: string, bytes: Uint8Array, start: number, end: number): Header {
  const readings = delimiters.map((delimiter) => ({
    delimiter: delimiter.charCodeAt(0),
    names: columnNames(bytes, start, end, delimiter.charCodeAt(0)),
  }))
  const hasAll = (names: readonly string[]) => requiredColumns.every((name) => names.includes(name))
  const reading =
    readings.find(({ names }) => hasAll(names)) ??
    readings.reduce((best, next) => (next.names.length > best.names.length ? next : best))
  const { delimiter, names } = reading
  return {
    delimiter,
    fieldCount: names.length,
    numberIndex: requiredIndex(path, names, 'number'),
    latIndex: requiredIndex(path, names, 'lat'),
    lngIndex: requiredIndex(path, names, 'lng'),
    contactIndex: columnIndex(path, names, 'contact'),
  }
}

/** Trimmed and in lower case; none if the record cannot be read with this delimiter. */
function columnNames(bytes: Uint8Array, start: number, end: number, delimiter: number): string[] {
  const scanner = new RecordScanner(delimiter)
  scanner.scan(bytes, start, end, true)
  if (scanner.fault !== undefined) return []
  const decoder = new TextDecoder()
  const scratch = new Uint8Array(end - start)
  return Array.from({ length: scanner.fieldCount }, (_, index) => {
    const length = unescapeField(
      bytes,
      scanner.fieldStarts[index],
      scanner.fieldEnds[index],
      scratch,
    )
    return decoder.decode(scratch.subarray(0, length)).trim().toLowerCase()
  })
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
