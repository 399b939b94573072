/**
 * A layer of a GeoPackage (OGC 12-128r18), read by SQLite in WebAssembly, so in memory.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import initSqlJs, { type Database, type SqlValue } from 'sql.js'
import { limits } from '../../limits.js'
import { type CrsStatement, readCrsName } from '../crs/crs-statement.js'
import {
  type AreaFeature,
  type AreaFile,
  type AreaFileOptions,
  chosenOf,
  readingFrom,
  refuse,
  unreadable,
} from './area-file.js'
import { readWhole } from './whole-file.js'
import { geometryOfWkb } from './wkb.js'

export async function openGeoPackage(
  path: string,
  file: string,
  { table }: AreaFileOptions,
): Promise<AreaFile> {
  if (existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0) {
    refuse(
      file,
      'changes of it are still in the file that ends in -wal: close the program that writes it',
    )
  }
  const bytes = await readWhole(path, file, 'a GeoPackage', limits.areaFileBytes)
  assertComplete(bytes, file)
  const { Database } = await initSqlJs()
  let database: Database | undefined
  try {
    database = new Database(bytes)
    // Pages that are damaged are found, not what is in their cells.
    const [[check]] = rowsOf(database, 'PRAGMA quick_check(1)')
    if (check !== 'ok') refuse(file, 'it is damaged, as SQLite says')
    const layer = layerOf(database, file, table)
    const opened = database
    return {
      fields: layer.fields,
      crs: layer.crs,
      featureCount: layer.featureCount,
      features: readingFrom(file, 'a GeoPackage', features(opened, file, layer)),
      close: async () => opened.close(),
    }
  } catch (error) {
    database?.close()
    throw unreadable(file, 'a GeoPackage', error)
  }
}

/** SQLite takes what is missing of the last page for zeros. */
function assertComplete(bytes: Buffer, file: string): void {
  if (bytes.length < SQLITE_HEADER_BYTES) refuse(file, 'it is cut off')
  const said = bytes.readUInt16BE(16)
  // The largest does not fit into two bytes.
  const pageBytes = said === 1 ? 65_536 : said
  const pageCount = bytes.readUInt32BE(28)
  if (pageBytes < 512 || bytes.length % pageBytes !== 0 || pageBytes * pageCount > bytes.length) {
    refuse(file, 'it is damaged or cut off: its length is not that of its pages')
  }
}

const SQLITE_HEADER_BYTES = 100

interface Layer {
  readonly table: string
  readonly geometryColumn: string
  /** All but the geometry. */
  readonly fields: readonly string[]
  readonly crs: CrsStatement | undefined
  readonly featureCount: number
}

function layerOf(database: Database, file: string, wanted: string | undefined): Layer {
  const tables = rowsOf(
    database,
    "SELECT table_name FROM gpkg_contents WHERE data_type = 'features'",
  )
  const names = tables.map(([name]) => String(name))
  const table = chosenOf(file, names, wanted, ['layer', 'layers'])
  // A view could be one that never ends.
  const [kind] = rowsOf(database, 'SELECT type FROM sqlite_master WHERE name = ?', [table])
  if (kind?.[0] !== 'table') refuse(file, `its layer ${table} is not a table`)
  const [column] = rowsOf(
    database,
    'SELECT column_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ?',
    [table],
  )
  if (column === undefined) return refuse(file, `its layer ${table} has no geometry`)
  const [geometryColumn, srsId] = [String(column[0]), Number(column[1])]
  const columns = rowsOf(database, 'SELECT name FROM pragma_table_info(?)', [table])
  const fields = columns.map(([name]) => String(name)).filter((name) => name !== geometryColumn)
  const [[featureCount]] = rowsOf(database, `SELECT count(*) FROM ${identifier(table)}`)
  const crs = crsOf(database, srsId)
  return { table, geometryColumn, fields, crs, featureCount: Number(featureCount) }
}

/** Whatever the axes of a system are, a GeoPackage has x before y. */
function crsOf(database: Database, srsId: number): CrsStatement | undefined {
  // An unknown plane, and unknown degrees.
  if (srsId === -1 || srsId === 0) return undefined
  const [row] = rowsOf(
    database,
    'SELECT organization, organization_coordsys_id, definition, srs_name FROM gpkg_spatial_ref_sys ' +
      'WHERE srs_id = ?',
    [srsId],
  )
  if (row === undefined) return { kind: 'other', name: `with the number ${srsId}` }
  const [organization, code, definition, name] = row.map((value) => String(value ?? ''))
  if (organization.toUpperCase() === 'EPSG' && code === '4326') return { kind: 'wgs84' }
  if (/^[A-Z_]+\s*\[/i.test(definition)) return { kind: 'wkt', text: definition }
  const short = `${organization}:${code}`
  return organization === '' ? { kind: 'other', name } : readCrsName(short)
}

function* features(
  database: Database,
  file: string,
  { table, geometryColumn, fields }: Layer,
): Generator<AreaFeature> {
  const columns = [geometryColumn, ...fields].map(identifier).join(', ')
  const statement = database.prepare(`SELECT ${columns} FROM ${identifier(table)}`)
  try {
    for (let position = 1; statement.step(); position++) {
      // Whole numbers of 64 bits would be rounded otherwise.
      const [blob, ...values] = (statement as ExactStatement).get(null, { useBigInt: true })
      const properties = Object.fromEntries(fields.map((name, at) => [name, values[at]]))
      yield { properties, geometry: geometryOf(blob, file, position) }
    }
  } finally {
    statement.free()
  }
}

/** The types of the library lack the second parameter. */
interface ExactStatement {
  get(parameters: null, options: { readonly useBigInt: true }): SqlValue[]
}

const MAGIC = [0x47, 0x50]
/** Magic, version, flags and the number of the coordinate system. */
const HEADER_BYTES = 8
/** By the three bits of the flags that say what the envelope has. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]

function geometryOf(value: SqlValue, file: string, position: number): AreaFeature['geometry'] {
  if (value === null) return null
  if (!(value instanceof Uint8Array) || value.length < HEADER_BYTES) return damaged(file, position)
  if (value[0] !== MAGIC[0] || value[1] !== MAGIC[1]) return damaged(file, position)
  const flags = value[3]
  if ((flags & 0b10_0000) !== 0) refuse(file, `feature ${position} has a geometry of an extension`)
  if ((flags & 0b01_0000) !== 0) return null
  const envelopeBytes = ENVELOPE_BYTES[(flags >> 1) & 0b111]
  if (envelopeBytes === undefined) return damaged(file, position)
  return geometryOfWkb(value.subarray(HEADER_BYTES + envelopeBytes), file, position)
}

function damaged(file: string, position: number): never {
  return refuse(
    file,
    `the geometry of feature ${position} is not one of a GeoPackage: it is damaged`,
  )
}

function rowsOf(database: Database, sql: string, parameters: SqlValue[] = []): SqlValue[][] {
  const [result] = database.exec(sql, parameters)
  return result?.values ?? []
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
