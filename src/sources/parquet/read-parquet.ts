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
import { assertPagesIntact } from './page-checksums.js'
import { type ParquetColumn, readColumns } from './parquet-columns.js'
import { columnNamed, parquetGeo, parquetRowCount, parquetRows } from './parquet-query.js'
import { unreadable } from './unreadable.js'

interface ParquetFile {
  readonly name: string
  readonly path: string
  readonly all: readonly ParquetColumn[]
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
  let all: ParquetColumn[]
  let rowCount: number
  let geo: ReturnType<typeof readGeoMetadata>
  try {
    all = await readColumns(connection, path, true)
    const [found] = (await connection.runAndReadAll(parquetGeo(path))).getRows()
    geo = readGeoMetadata(found === undefined ? undefined : String(found[0]))
    const counted = await connection.runAndReadAll(parquetRowCount(path))
    rowCount = Number(counted.value(0, 0))
  } catch (error) {
    throw unreadable(name, error)
  }
  const found = all.map((column) => column.name)
  const choice = chooseWithPoint(name, found, wanted, primaryColumn(geo))
  const { chosen, point } = choice
  if (point !== undefined && !found.includes(point)) {
    throw new OperatorError(
      'InputRejected',
      `${name}: its metadata names a column of geometries that it does not have: write it again, or ` +
        'name the right one with both --lat and --lng',
    )
  }
  if (point !== undefined) {
    all = await readColumns(connection, path, false)
    assertDegrees(name, columnNamed(all, point), geo)
  }
  return { name, path, all, columns: chosen, choice, rowCount }
}

/** @param onShare  called now and then with how much of the file is done, from 0 to 1 */
export async function readParquetFile(
  connection: DuckDBConnection,
  file: ParquetFile,
  target: RowTarget,
  onShare: (share: number) => void,
): Promise<FileRead> {
  const { name, path, all, choice, rowCount } = file
  const source = parquetRows(name, path, all, choice)
  const { chosen } = choice
  const names = Object.values(chosen).filter((column) => column !== undefined)
  let scan: RowScan
  try {
    await assertPagesIntact(connection, name, path, names)
    scan = await scanRows(connection, source, target, (rows) => onShare(rows / rowCount))
  } catch (error) {
    throw unreadable(name, error)
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
