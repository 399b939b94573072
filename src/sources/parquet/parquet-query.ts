/**
 * The rows of a Parquet file in SQL.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { sqlPath } from '../files/database.js'
import { type PointChoice, pointRows, wktOfHex } from '../rows/point-column.js'
import type { CoordinateSource, RowSource } from '../rows/row-query.js'
import { metadataOf, type ParquetColumn, readParquet, TOO_MANY_DIGITS } from './parquet-columns.js'

/** The metadata of GeoParquet, if there is any. */
export function parquetGeo(path: string): string {
  return metadataOf(path, 'geo')
}

/** How many rows the file says that it has. */
export function parquetRowCount(path: string): string {
  return `SELECT num_rows::DOUBLE FROM parquet_file_metadata(${sqlPath(path)})`
}

/** @throws OperatorError  `InputRejected` for a column of a type that cannot be what it is chosen for */
export function parquetRows(
  file: string,
  path: string,
  columns: readonly ParquetColumn[],
  { chosen, point }: PointChoice,
): RowSource {
  const named = (name: string) => columnNamed(columns, name)
  const text = (role: string, name: string) => textColumn(file, role, named(name))
  const { number, lat, lng, contact, key } = chosen
  // Beside a text, DuckDB would take the bytes of a geometry for text.
  const from = `(${readParquet(path, point === undefined)})`
  const position =
    point === undefined
      ? {
          from,
          lat: coordinate(file, 'lat', named(lat)),
          lng: coordinate(file, 'lng', named(lng)),
          rules: [],
        }
      : pointRows(from, wktOf(file, named(point)))
  return {
    ...position,
    number: text('number', number),
    ...(contact === undefined ? {} : { contact: text('contact', contact) }),
    ...(key === undefined ? {} : { key: text('key', key) }),
  }
}

/** Of columns of one name the choice has refused all. */
export function columnNamed(columns: readonly ParquetColumn[], name: string): ParquetColumn {
  const column = columns.find((column) => column.name === name)
  if (column === undefined) throw new Error('a column was chosen that the file does not have')
  return column
}

function wktOf(file: string, point: ParquetColumn): string {
  const column = identifier(point)
  if (point.type.startsWith('GEOMETRY')) return `TRY(ST_AsText(${column}))`
  if (point.type === 'BLOB') return wktOfHex(`hex(${column})`)
  if (point.type === 'VARCHAR') return wktOfHex(column)
  throw wrongType(file, 'lat', point, 'a number, or a geometry as WKB')
}

const TEXT = /^(VARCHAR|UUID)$/
const WHOLE = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|^DECIMAL\(\d+,0\)$/
const DECIMAL = /^DECIMAL\(/

function textColumn(file: string, role: string, column: ParquetColumn): string {
  const { type } = column
  if (TEXT.test(type) || WHOLE.test(type)) return `${identifier(column)}::VARCHAR`
  // Only beside a geometry: otherwise bytes of no declared type are text.
  if (type === 'BLOB') return `TRY(decode(${identifier(column)}))`
  throw wrongType(file, role, column, 'a text or a whole number')
}

function coordinate(file: string, role: string, column: ParquetColumn): CoordinateSource {
  const { type } = column
  if (type === 'DOUBLE' || WHOLE.test(type)) return { double: `${identifier(column)}::DOUBLE` }
  // By their decimal text, so that they come out as from CSV: 51.1 as a float is 51.09999847.
  if (type === 'FLOAT' || DECIMAL.test(type) || TEXT.test(type)) {
    return { text: `${identifier(column)}::VARCHAR` }
  }
  throw wrongType(file, role, column, 'a number')
}

export function identifier({ sqlName }: ParquetColumn): string {
  return `"${sqlName.replaceAll('"', '""')}"`
}

function wrongType(
  file: string,
  role: string,
  { name, type }: ParquetColumn,
  needed: string,
): Error {
  return new OperatorError(
    'InputRejected',
    `${file}: column "${name}" is ${kindOf(type)}, and the ${role} must be ${needed}: ` +
      `name another one with --${role}`,
  )
}

function kindOf(type: string): string {
  if (type === TOO_MANY_DIGITS) return type
  if (type.endsWith(']')) return 'a list'
  const [kind] = /^[A-Z ]+/.exec(type) ?? ['of another type']
  return kind.trim()
}
