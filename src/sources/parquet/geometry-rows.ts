/**
 * The rows of a Parquet file that has a column of geometries, whatever the geometries are.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { openDatabase } from '../files/database.js'
import { primaryColumn, readGeoMetadata } from './geo-metadata.js'
import { assertPagesIntact } from './page-checksums.js'
import { type ParquetGeometry, readColumns, readParquet } from './parquet-columns.js'
import { identifier, parquetGeo, parquetRowCount } from './parquet-query.js'
import { unreadable } from './unreadable.js'

export interface GeometryRows {
  /** Columns beside the geometry. */
  readonly fields: readonly string[]
  readonly rowCount: number
  /** What the file says of the column of geometries, as GeoParquet has it; undefined where it says nothing. */
  readonly column: { readonly crs?: unknown; readonly edges?: unknown } | undefined
  /** What the type of the column says of them, if it is Parquet's own of geometries. */
  readonly geometry: ParquetGeometry | undefined
  /** Well-known binary, and the texts of the fields, in their order. */
  readonly rows: AsyncIterable<readonly [wkb: Uint8Array | null, ...texts: (string | null)[]]>
  close(): void
}

/**
 * @param name  for messages
 * @throws OperatorError  InputRejected for what has no geometries as WKB, or is damaged or cut off
 */
export async function openGeometryRows(path: string, name: string): Promise<GeometryRows> {
  const { connection, close } = await openDatabase([path])
  try {
    const columns = await readColumns(connection, path, false)
    const [geo] = (await connection.runAndReadAll(parquetGeo(path))).getRows()
    const metadata = readGeoMetadata(geo === undefined ? undefined : String(geo[0]))
    const typed = columns.filter(({ type }) => type.startsWith('GEOMETRY'))
    const primary = primaryColumn(metadata) ?? (typed.length === 1 ? typed[0].name : undefined)
    const chosen = columns.find(({ name }) => name === primary)
    if (chosen === undefined) {
      throw fault(name, 'it is no GeoParquet: it does not say which column has the geometries')
    }
    const { type, geometry } = chosen
    const column = metadata?.columns?.[chosen.name]
    const { encoding } = (column ?? {}) as { encoding?: unknown }
    const isEncoded = column === undefined ? type.startsWith('GEOMETRY') : encoding === 'WKB'
    if (!isEncoded || !/^(GEOMETRY|BLOB)/.test(type)) {
      throw fault(name, 'its geometries are not encoded as WKB: write it again with that')
    }
    const others = columns.filter((other) => other !== chosen)
    const fields = others.map((other) => other.name)
    const twice = fields.find((field, at) => fields.indexOf(field) !== at)
    if (twice !== undefined) {
      throw fault(name, `it has more than one column "${twice.slice(0, 40)}": rename all but one`)
    }
    await assertPagesIntact(
      connection,
      name,
      path,
      columns.map((column) => column.name),
    )
    const counted = await connection.runAndReadAll(parquetRowCount(path))
    const rowCount = Number(counted.value(0, 0))
    const wkb = type === 'BLOB' ? identifier(chosen) : `ST_AsWKB(${identifier(chosen)})`
    // Some writers do not say that a text is one.
    const texts = others.map((other) =>
      other.type === 'BLOB' ? `TRY(decode(${identifier(other)}))` : `${identifier(other)}::VARCHAR`,
    )
    const query = `SELECT ${[wkb, ...texts].join(', ')} FROM (${readParquet(path, false)})`
    async function* rows(): AsyncGenerator<readonly [Uint8Array | null, ...(string | null)[]]> {
      try {
        const result = await connection.stream(query)
        let readCount = 0
        for (;;) {
          const chunk = await result.fetchChunk()
          if (chunk === null || chunk.rowCount === 0) break
          readCount += chunk.rowCount
          for (const [value, ...others] of chunk.getRows()) {
            const bytes = (value as { bytes?: Uint8Array } | null)?.bytes ?? null
            yield [bytes, ...(others as (string | null)[])]
          }
        }
        if (readCount !== rowCount) {
          throw fault(
            name,
            `only ${readCount} of its ${rowCount} rows could be read: it is damaged`,
          )
        }
      } catch (error) {
        throw unreadable(name, error)
      }
    }
    return { fields, rowCount, column, geometry, rows: rows(), close }
  } catch (error) {
    close()
    throw unreadable(name, error)
  }
}

function fault(name: string, problem: string): OperatorError {
  return new OperatorError('InputRejected', `${name}: ${problem}`)
}
