/**
 * What a GeoParquet file says of its geometries.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

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
  column: string,
  geo: GeoMetadata | undefined,
  type: string,
): void {
  const entry = geo?.columns?.[column]
  // Without a member, GeoParquet means OGC:CRS84. DuckDB tells that of Parquet's own type by its name.
  const [, typed] = /^GEOMETRY\('(.*)'\)$/s.exec(type) ?? []
  const name = entry !== undefined && 'crs' in entry ? crsName(entry.crs) : (typed ?? 'OGC:CRS84')
  if (DEGREES.test(name)) return
  throw new OperatorError(
    'InputRejected',
    `${file}: the coordinates of column "${column}" are in ${name}, and must be in EPSG:4326 or ` +
      'OGC:CRS84: transform them, for example with ogr2ogr -t_srs EPSG:4326',
  )
}

const DEGREES = /^(EPSG:4326|OGC:CRS84)$/i
const NAME_CHAR_COUNT = 60

/** Of PROJJSON; its identifier, or else its name. */
function crsName(crs: unknown): string {
  if (crs === null || typeof crs !== 'object') return 'an unknown coordinate system'
  const { id, name } = crs as { id?: { authority?: unknown; code?: unknown }; name?: unknown }
  if (id?.authority !== undefined) return `${id.authority}:${id.code}`.slice(0, NAME_CHAR_COUNT)
  return typeof name === 'string'
    ? JSON.stringify(name.slice(0, NAME_CHAR_COUNT))
    : 'an unknown coordinate system'
}
