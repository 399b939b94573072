/**
 * The rows of a Parquet file in SQL.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { ColumnChoice } from '../choose-columns.js'
import { sqlPath } from '../files/database.js'
import type { CoordinateSource, RowSource } from '../rows/row-query.js'

/** What DuckDB calls the type of each column, by its name. */
export type ColumnTypes = ReadonlyMap<string, string>

/** Name and type of each column. */
export function parquetColumns(path: string): string {
  return `SELECT column_name, column_type FROM (DESCRIBE ${readParquet(path)})`
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
  chosen: ColumnChoice,
): RowSource {
  const text = (role: string, name: string) => textColumn(file, role, name, types.get(name) ?? '')
  const { number, lat, lng, contact, key } = chosen
  return {
    from: `(${readParquet(path)})`,
    number: text('number', number),
    lat: coordinate(file, 'lat', lat, types.get(lat) ?? ''),
    lng: coordinate(file, 'lng', lng, types.get(lng) ?? ''),
    ...(contact === undefined ? {} : { contact: text('contact', contact) }),
    ...(key === undefined ? {} : { key: text('key', key) }),
    rules: [],
  }
}

const TEXT = /^(VARCHAR|UUID)$/
const WHOLE = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|^DECIMAL\(\d+,0\)$/
const DECIMAL = /^DECIMAL\(/

function readParquet(path: string): string {
  return `SELECT * FROM read_parquet(${sqlPath(path)}, hive_partitioning = false, binary_as_string = true)`
}

function textColumn(file: string, role: string, name: string, type: string): string {
  if (TEXT.test(type) || WHOLE.test(type)) return `${identifier(name)}::VARCHAR`
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
