/**
 * The columns of a Parquet file: their names and coordinate systems as the file has them, which DuckDB
 * does not always tell.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { quote, sqlPath } from '../files/database.js'

export interface ParquetColumn {
  /** As the file has it; another column may have the same. */
  readonly name: string
  /** DuckDB's name of it: another one where a column before it differs by nothing or by its case. */
  readonly sqlName: string
  /** What DuckDB calls its type. */
  readonly type: string
  /** What Parquet's own types of geometries say; undefined for other types. */
  readonly geometry: ParquetGeometry | undefined
}

export interface ParquetGeometry {
  /** The coordinate system: a name, or PROJJSON. */
  readonly crs: string
  /** Whether its edges are great circles. */
  readonly isGeography: boolean
}

export const TOO_MANY_DIGITS = 'DECIMAL of more than 38 digits'

/** @param areBytesTexts  whether bytes of no declared type are text */
export async function readColumns(
  connection: DuckDBConnection,
  path: string,
  areBytesTexts: boolean,
): Promise<ParquetColumn[]> {
  const rowsOf = async (query: string) => (await connection.runAndReadAll(query)).getRows()
  const described = await rowsOf(
    `SELECT column_name, column_type FROM (DESCRIBE ${readParquet(path, areBytesTexts)})`,
  )
  const schema = await rowsOf(
    `SELECT name, num_children, "precision", logical_type FROM parquet_schema(${sqlPath(path)})`,
  )
  const columns = topLevel(schema)
  if (columns.length !== described.length) throw new Error('DuckDB has other columns than the file')
  const read: ParquetColumn[] = []
  for (const [at, [sqlName, type]] of described.entries()) {
    const [name, , precision, logicalType] = columns[at]
    read.push({
      name: String(name),
      sqlName: String(sqlName),
      // DuckDB reads these as numbers of floating point, some by a power of 256 too large.
      type: Number(precision) > 38 ? TOO_MANY_DIGITS : String(type),
      geometry: await geometryOf(String(logicalType), async (key) => {
        const [found] = await rowsOf(metadataOf(path, key))
        return found === undefined ? undefined : String(found[0])
      }),
    })
  }
  return read
}

export function readParquet(path: string, areBytesTexts: boolean): string {
  return `SELECT * FROM read_parquet(${sqlPath(path)}, hive_partitioning = false,
    binary_as_string = ${areBytesTexts})`
}

/** An entry of the metadata of a file, if it is there. */
export function metadataOf(path: string, key: string): string {
  return `SELECT decode(value) FROM parquet_kv_metadata(${sqlPath(path)})
    WHERE decode(key) = ${quote(key)}`
}

/** The children of the root. The schema is a tree, in which each group comes before what is in it. */
function topLevel<Row extends readonly unknown[]>(schema: readonly Row[]): Row[] {
  const columns: Row[] = []
  for (let at = 1; at < schema.length; at = behind(schema, at)) columns.push(schema[at])
  return columns
}

function behind(schema: readonly (readonly unknown[])[], start: number): number {
  let openCount = 1
  let at = start
  for (; openCount > 0 && at < schema.length; at++) openCount += Number(schema[at][1] ?? 0) - 1
  return at
}

/** The type of DuckDB has no coordinate system where DuckDB does not know it, as `srid:5070`. */
async function geometryOf(
  logicalType: string,
  metadata: (key: string) => Promise<string | undefined>,
): Promise<ParquetGeometry | undefined> {
  const geometry = /^GeometryType\(crs=(.*)\)$/s.exec(logicalType)
  const geography = /^GeographyType\(crs=(.*), algorithm=[^,]*\)$/s.exec(logicalType)
  const [, said] = geometry ?? geography ?? []
  if (said === undefined) return undefined
  const [, key] = /^projjson:(.*)$/s.exec(said) ?? []
  const [, srid] = /^srid:(\d+)$/.exec(said) ?? []
  const name = srid === undefined ? said : Number(srid) === 0 ? UNKNOWN : `EPSG:${srid}`
  const isDefault = said === '<null>' || said === ''
  return {
    crs: key === undefined ? (isDefault ? 'OGC:CRS84' : name) : ((await metadata(key)) ?? UNKNOWN),
    isGeography: geography !== null,
  }
}

const UNKNOWN = 'an unknown coordinate system'
