/**
 * Reads a Parquet file, and compares the rows that came with the count that the file states.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { OperatorError } from '../../errors.js'
import type { ColumnNames } from '../batch.js'
import type { ColumnChoice } from '../choose-columns.js'
import { chooseWithPoint, type PointChoice } from '../rows/point-column.js'
import { reasonOf } from '../rows/row-query.js'
import { type RowScan, type RowTarget, scanRows } from '../rows/row-scan.js'
import type { FileRead } from '../text/read-text.js'
import { assertDegrees, primaryColumn, readGeoMetadata } from './geo-metadata.js'
import {
  type ColumnTypes,
  parquetColumns,
  parquetGeo,
  parquetRowCount,
  parquetRows,
} from './parquet-query.js'

interface ParquetFile {
  readonly name: string
  readonly path: string
  readonly types: ColumnTypes
  readonly columns: ColumnChoice
  readonly choice: PointChoice
  readonly rowCount: number
}

export async function openParquet(
  connection: DuckDBConnection,
  name: string,
  path: string,
  wanted: ColumnNames,
): Promise<ParquetFile> {
  let types: ColumnTypes
  let rowCount: number
  let geo: ReturnType<typeof readGeoMetadata>
  const typesOf = async (areBytesTexts: boolean) => {
    const described = await connection.runAndReadAll(parquetColumns(path, areBytesTexts))
    return new Map(described.getRows().map(([column, type]) => [String(column), String(type)]))
  }
  try {
    types = await typesOf(true)
    const [found] = (await connection.runAndReadAll(parquetGeo(path))).getRows()
    geo = readGeoMetadata(found === undefined ? undefined : String(found[0]))
    const counted = await connection.runAndReadAll(parquetRowCount(path))
    rowCount = Number(counted.value(0, 0))
  } catch (error) {
    throw unreadable(name, error)
  }
  const choice = chooseWithPoint(name, [...types.keys()], wanted, primaryColumn(geo))
  const { chosen, point } = choice
  if (point !== undefined) {
    assertDegrees(name, point, geo, types.get(point) ?? '')
    types = await typesOf(false)
  }
  return { name, path, types, columns: chosen, choice, rowCount }
}

/** @param onShare  called now and then with how much of the file is done, from 0 to 1 */
export async function readParquetFile(
  connection: DuckDBConnection,
  file: ParquetFile,
  target: RowTarget,
  onShare: (share: number) => void,
): Promise<FileRead> {
  const { name, path, types, choice, rowCount } = file
  const source = parquetRows(name, path, types, choice)
  let scan: RowScan
  try {
    scan = await scanRows(connection, source, target, (rows) => onShare(rows / rowCount))
  } catch (error) {
    throw error instanceof OperatorError ? error : unreadable(name, error)
  }
  if (scan.rowCount !== rowCount) {
    throw new OperatorError(
      'InputRejected',
      `${name} is refused, because only ${scan.rowCount} of its ${rowCount} rows could be read: ` +
        'it is damaged, write it again',
    )
  }
  const { rows, reasons, cells } = scan.special
  for (let index = 0; index < rows.length; index++) {
    const place = { file: name, line: rows[index] + 1, unit: 'row' as const }
    target.tally.add(reasonOf(reasons[index]), place, target.texts?.next(), cells[index])
  }
  const { acceptedCount, normalizedCount } = scan
  return { acceptedCount, normalizedCount, furtherLineCount: 0 }
}

/** Only the kind of it, and no cause: what DuckDB says may hold values. */
function unreadable(name: string, error: unknown): Error {
  const [kind] = /^[A-Z][A-Za-z ]{0,40} (Error|Exception)(?=:)/.exec(
    String((error as Error).message),
  ) ?? ['unknown error']
  return new OperatorError(
    'InputRejected',
    `${name} cannot be read as Parquet: it is damaged or cut off (DuckDB: ${kind})`,
  )
}
