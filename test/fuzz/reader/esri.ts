/**
 * Drawings as the Esri map libraries write them.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'

/** A drawing of GeoJSON with the geometries of Esri that are nearest to its own. */
export function asEsri(drawing: unknown, random: Random): unknown {
  if (typeof drawing !== 'object' || drawing === null) return drawing
  const { type, features, geometry, ...rest } = drawing as Record<string, unknown>
  if (Array.isArray(features)) {
    return { type, ...rest, features: features.map((feature) => asEsri(feature, random)) }
  }
  if (geometry !== undefined) return { type, ...rest, geometry: asEsri(geometry, random) }
  return geometryOf(drawing as Geometry, random)
}

interface Geometry {
  readonly type?: string
  readonly coordinates?: unknown
}

function geometryOf(geometry: Geometry, random: Random): object {
  const { type, coordinates } = geometry
  if (!Array.isArray(coordinates)) return geometry
  const isMercator = random.unit() < 0.3
  const wkid = isMercator ? random.pick([3857, 102100]) : random.pick([4326, undefined])
  const reference = wkid === undefined ? {} : { spatialReference: { wkid } }
  const plane = isMercator ? inMetres(coordinates) : coordinates
  switch (type) {
    case 'Polygon':
      return { rings: plane, ...reference }
    case 'MultiPolygon':
      return { rings: (plane as unknown[][]).flat(), ...reference, type: 'polygon' }
    case 'LineString':
      return { paths: [plane], ...reference }
    case 'MultiLineString':
      return { ...reference, paths: plane }
    case 'MultiPoint':
      return { points: plane, ...reference, type: random.pick(['multipoint', 'MultiPoint']) }
    case 'Point': {
      const [x, y] = plane as number[]
      return { x, y, ...reference }
    }
    default:
      return geometry
  }
}

/** As a map draws it, as far as it has a map: latitudes near a pole stay finite. */
function inMetres(coordinates: unknown): unknown {
  if (!Array.isArray(coordinates)) return coordinates
  if (typeof coordinates[0] !== 'number') return coordinates.map(inMetres)
  const [lng, lat] = coordinates as number[]
  const northing = Math.asinh(Math.tan((lat * Math.PI) / 180))
  return [(lng * 20037508.342789244) / 180, 6_378_137 * northing]
}
