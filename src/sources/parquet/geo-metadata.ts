/**
 * What a GeoParquet file says of its geometries.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { ParquetColumn } from './parquet-columns.js'

interface GeoMetadata {
  readonly primary_column?: unknown
  readonly columns?: Readonly<Record<string, { readonly crs?: unknown; readonly edges?: unknown }>>
}

/** The text of the metadata `geo`, read; undefined if there is none that can be read. */
export function readGeoMetadata(text: string | undefined): GeoMetadata | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as GeoMetadata) : undefined
  } catch {
    return undefined
  }
}

/** The column that stands for the position unless another is named. */
export function primaryColumn(geo: GeoMetadata | undefined): string | undefined {
  return typeof geo?.primary_column === 'string' ? geo.primary_column : undefined
}

/** @throws OperatorError  `InputRejected` if a column has other coordinates than degrees of WGS 84 */
export function assertDegrees(
  file: string,
  { name, geometry }: ParquetColumn,
  geo: GeoMetadata | undefined,
): void {
  // A file may say it in both places, or in one of them. Without a member, GeoParquet means OGC:CRS84.
  const entry = geo?.columns?.[name]
  const typed = geometry?.crs.startsWith('{') ? crsName(parsed(geometry.crs)) : geometry?.crs
  const said = [typed, entry !== undefined && 'crs' in entry ? crsName(entry.crs) : undefined]
  const other = said.find((crs) => crs !== undefined && !DEGREES.test(crs))
  if (other === undefined) return
  throw new OperatorError(
    'InputRejected',
    `${file}: the coordinates of column "${name}" are in ${other.slice(0, NAME_CHAR_COUNT)}, and ` +
      'must be in EPSG:4326 or OGC:CRS84: transform them, for example with ogr2ogr -t_srs EPSG:4326',
  )
}

const DEGREES = /^(EPSG:(4326|4979)|OGC:CRS84)$/i
const NAME_CHAR_COUNT = 60

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Of PROJJSON; its identifier, or else its name. */
function crsName(crs: unknown): string {
  if (crs === null || typeof crs !== 'object') return 'an unknown coordinate system'
  const { id, name } = crs as { id?: { authority?: unknown; code?: unknown }; name?: unknown }
  if (id?.authority !== undefined) return `${id.authority}:${id.code}`.slice(0, NAME_CHAR_COUNT)
  return typeof name === 'string'
    ? JSON.stringify(name.slice(0, NAME_CHAR_COUNT))
    : 'an unknown coordinate system'
}
