/**
 * The rows of a Parquet file in SQL.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { sqlPath } from '../files/database.js'
import { type PointChoice, pointRows, wktOfHex } from '../rows/point-column.js'
import type { CoordinateSource, RowSource } from '../rows/row-query.js'

/** What DuckDB calls the type of each column, by its name. */
export type ColumnTypes = ReadonlyMap<string, string>

/** Name and type of each column. @param areBytesTexts  whether bytes of no declared type are text */
export function parquetColumns(path: string, areBytesTexts: boolean): string {
  return `SELECT column_name, column_type FROM (DESCRIBE ${readParquet(path, areBytesTexts)})`
}

/** The metadata of GeoParquet, if there is any. */
export function parquetGeo(path: string): string {
  return `SELECT decode(value) FROM parquet_kv_metadata(${sqlPath(path)}) WHERE decode(key) = 'geo'`
}

/** How many rows the file says that it has. */
export function parquetRowCount(path: string): string {
  return `SELECT num_rows::DOUBLE FROM parquet_file_metadata(${sqlPath(path)})`
}

/** @throws OperatorError  `InputRejected` for a column of a type that cannot be what it is chosen for */
export function parquetRows(
  file: string,
  path: string,
  types: ColumnTypes,
  { chosen, point }: PointChoice,
): RowSource {
  const text = (role: string, name: string) => textColumn(file, role, name, types.get(name) ?? '')
  const { number, lat, lng, contact, key } = chosen
  // Beside a text, DuckDB would take the bytes of a geometry for text.
  const from = `(${readParquet(path, point === undefined)})`
  const position =
    point === undefined
      ? {
          from,
          lat: coordinate(file, 'lat', lat, types.get(lat) ?? ''),
          lng: coordinate(file, 'lng', lng, types.get(lng) ?? ''),
          rules: [],
        }
      : pointRows(from, wktOf(file, point, types.get(point) ?? ''))
  return {
    ...position,
    number: text('number', number),
    ...(contact === undefined ? {} : { contact: text('contact', contact) }),
    ...(key === undefined ? {} : { key: text('key', key) }),
  }
}

function wktOf(file: string, name: string, type: string): string {
  const column = identifier(name)
  if (type.startsWith('GEOMETRY')) return `TRY(ST_AsText(${column}))`
  if (type === 'BLOB') return wktOfHex(`hex(${column})`)
  if (type === 'VARCHAR') return wktOfHex(column)
  throw wrongType(file, 'lat', name, type, 'a number, or a geometry as WKB')
}

const TEXT = /^(VARCHAR|UUID)$/
const WHOLE = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|^DECIMAL\(\d+,0\)$/
const DECIMAL = /^DECIMAL\(/

export function readParquet(path: string, areBytesTexts: boolean): string {
  return `SELECT * FROM read_parquet(${sqlPath(path)}, hive_partitioning = false,
    binary_as_string = ${areBytesTexts})`
}

function textColumn(file: string, role: string, name: string, type: string): string {
  if (TEXT.test(type) || WHOLE.test(type)) return `${identifier(name)}::VARCHAR`
  // Only beside a geometry: otherwise bytes of no declared type are text.
  if (type === 'BLOB') return `TRY(decode(${identifier(name)}))`
  throw wrongType(file, role, name, type, 'a text or a whole number')
}

function coordinate(file: string, role: string, name: string, type: string): CoordinateSource {
  if (type === 'DOUBLE' || WHOLE.test(type)) return { double: `${identifier(name)}::DOUBLE` }
  // By their decimal text, so that they come out as from CSV: 51.1 as a float is 51.09999847.
  if (type === 'FLOAT' || DECIMAL.test(type) || TEXT.test(type)) {
    return { text: `${identifier(name)}::VARCHAR` }
  }
  throw wrongType(file, role, name, type, 'a number')
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function wrongType(file: string, role: string, name: string, type: string, needed: string): Error {
  const [kind] = /^[A-Z ]+/.exec(type) ?? ['of another type']
  return new OperatorError(
    'InputRejected',
    `${file}: column "${name}" is ${kind.trim()}, and the ${role} must be ${needed}: ` +
      `name another one with --${role}`,
  )
}
