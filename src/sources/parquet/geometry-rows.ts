/**
 * The rows of a Parquet file that has a column of geometries, whatever the geometries are.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { openDatabase } from '../files/database.js'
import { primaryColumn, readGeoMetadata } from './geo-metadata.js'
import { parquetColumns, parquetGeo, parquetRowCount, readParquet } from './parquet-query.js'

export interface GeometryRows {
  /** Columns beside the geometry. */
  readonly fields: readonly string[]
  readonly rowCount: number
  /** What the file says of the column of geometries, as GeoParquet has it; undefined where it says nothing. */
  readonly column: { readonly crs?: unknown; readonly edges?: unknown } | undefined
  /** What DuckDB says of the coordinates in the type of the column. */
  readonly typeCrs: string | undefined
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
    const described = (await connection.runAndReadAll(parquetColumns(path, false))).getRows()
    const types = new Map(described.map(([column, type]) => [String(column), String(type)]))
    const [geo] = (await connection.runAndReadAll(parquetGeo(path))).getRows()
    const metadata = readGeoMetadata(geo === undefined ? undefined : String(geo[0]))
    const typed = [...types].filter(([, type]) => type.startsWith('GEOMETRY'))
    const primary = primaryColumn(metadata) ?? (typed.length === 1 ? typed[0][0] : undefined)
    const type = types.get(primary ?? '')
    if (primary === undefined || type === undefined) {
      throw fault(name, 'it is no GeoParquet: it does not say which column has the geometries')
    }
    const column = metadata?.columns?.[primary]
    const { encoding } = (column ?? {}) as { encoding?: unknown }
    const isEncoded = column === undefined ? type.startsWith('GEOMETRY') : encoding === 'WKB'
    if (!isEncoded || !/^(GEOMETRY|BLOB)/.test(type)) {
      throw fault(name, 'its geometries are not encoded as WKB: write it again with that')
    }
    const fields = [...types.keys()].filter((field) => field !== primary)
    const counted = await connection.runAndReadAll(parquetRowCount(path))
    const rowCount = Number(counted.value(0, 0))
    const wkb = type === 'BLOB' ? identifier(primary) : `ST_AsWKB(${identifier(primary)})`
    // Some writers do not say that a text is one.
    const texts = fields.map((field) =>
      types.get(field) === 'BLOB'
        ? `TRY(decode(${identifier(field)}))`
        : `${identifier(field)}::VARCHAR`,
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
    const [, typeCrs] = /^GEOMETRY\('(.*)'\)$/s.exec(type) ?? []
    return { fields, rowCount, column, typeCrs, rows: rows(), close }
  } catch (error) {
    close()
    throw unreadable(name, error)
  }
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function fault(name: string, problem: string): OperatorError {
  return new OperatorError('InputRejected', `${name}: ${problem}`)
}

function unreadable(name: string, error: unknown): Error {
  if (error instanceof OperatorError) return error
  const [kind] = /^[A-Z][A-Za-z ]{0,40} (Error|Exception)(?=:)/.exec((error as Error).message) ?? [
    'unknown error',
  ]
  return new OperatorError(
    'InputRejected',
    `${name} cannot be read as Parquet: it is damaged or cut off (DuckDB: ${kind})`,
    { cause: error },
  )
}
