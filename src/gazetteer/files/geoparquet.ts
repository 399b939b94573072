/**
 * Areas of GeoParquet 1.0 and 1.1, with geometries in WKB. Edges along great circles are not what
 * Hickory draws, and are refused.
 *
 * @module
 */
import { type GeometryRows, openGeometryRows } from '../../sources/parquet/geometry-rows.js'
import { type CrsStatement, readCrsName } from '../crs/crs-statement.js'
import { type AreaFeature, type AreaFile, readingFrom, refuse } from './area-file.js'
import { geometryOfWkb } from './wkb.js'

export async function openGeoParquet(path: string, file: string): Promise<AreaFile> {
  const opened = await openGeometryRows(path, file)
  try {
    const isSaid = (opened.column?.edges ?? 'planar') !== 'planar'
    if (isSaid || opened.geometry?.isGeography === true) {
      refuse(file, 'its edges are great circles, and areas here have straight edges: densify them')
    }
    return {
      fields: opened.fields,
      crs: crsOf(opened, file),
      featureCount: opened.rowCount,
      features: readingFrom(file, 'GeoParquet', features(opened, file)),
      close: async () => opened.close(),
    }
  } catch (error) {
    opened.close()
    throw error
  }
}

async function* features(
  { fields, rows }: GeometryRows,
  file: string,
): AsyncGenerator<AreaFeature> {
  let position = 0
  for await (const [wkb, ...texts] of rows) {
    position++
    const properties = Object.fromEntries(fields.map((name, at) => [name, texts[at]]))
    yield { properties, geometry: wkb === null ? null : geometryOfWkb(wkb, file, position) }
  }
}

function crsOf({ column, geometry }: GeometryRows, file: string): CrsStatement | undefined {
  // Without the member, GeoParquet means OGC:CRS84, and null is an unknown system.
  if (column !== undefined && 'crs' in column) {
    return column.crs === null ? undefined : projJson(column.crs, file)
  }
  // Parquet's own type of geometries says it by a name or by PROJJSON.
  if (geometry === undefined) return { kind: 'wgs84' }
  const { crs } = geometry
  return crs.startsWith('{') ? projJson(parsed(crs), file) : readCrsName(crs)
}

function projJson(value: unknown, file: string): CrsStatement {
  if (typeof value !== 'object' || value === null) {
    return refuse(file, 'what it says of its coordinates is no PROJJSON')
  }
  const { id } = value as { id?: { authority?: unknown; code?: unknown } }
  const name = `${id?.authority}:${id?.code}`.toUpperCase()
  // Whatever the order of the axes, GeoParquet has longitude before latitude.
  if (name === 'OGC:CRS84' || name === 'EPSG:4326') return { kind: 'wgs84' }
  return { kind: 'projJson', value }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
