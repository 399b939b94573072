/**
 * An area of the gazetteer as a Feature of GeoJSON, cut at the antimeridian.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { type GlobeBox, globeBoxOf } from '../gazetteer/area-bounds.js'
import { NO_PARTS } from '../geometry/layer-parts.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { AreaSummary } from '../interface/areas.js'
import { limits } from '../limits.js'
import { drawLayer, TooManyVertices } from '../outline/draw.js'
import { toArea } from '../outline/notations.js'

interface NamedAreaFeature {
  readonly type: 'Feature'
  readonly id: string
  readonly bbox: readonly number[]
  readonly geometry: object
  readonly properties: Readonly<Record<string, unknown>>
}

/** @throws ServiceError  TooManyVertices, where it is too large for an answer */
export function namedAreaFeature(properties: AreaSummary, polygons: Polygons): NamedAreaFeature {
  const region = drawn(polygons)
  return {
    type: 'Feature',
    id: properties.Id ?? '',
    bbox: degreesOf(globeBoxOf(polygons)),
    geometry: toArea(region).GeoJson as object,
    properties,
  }
}

function drawn(polygons: Polygons) {
  const ledger = { vertexCount: limits.areaDrawnVertexCount, hasShapesWithoutArea: false }
  try {
    return drawLayer({ ...NO_PARTS, polygons, sourceIds: null }, ledger)
  } catch (fault) {
    if (!(fault instanceof TooManyVertices)) throw fault
    const problem = `the area has more than ${limits.areaDrawnVertexCount} positions, too many to be sent`
    throw new ServiceError('TooManyVertices', problem, 'Name')
  }
}

/** Seven decimals at most. */
function degreesOf(box: GlobeBox): number[] {
  return box.map((units) => Math.round(units) / UNITS_PER_DEGREE + 0)
}
