/**
 * Reads an area that gets a name, as the same shape in a request is read, so that it selects the same.
 *
 * @module
 */
import type { Polygons } from '../../geometry/polygon/polygons.js'
import { ringBudget } from '../../geometry/ring-budget.js'
import { limits } from '../../limits.js'
import { isObject, member } from '../parse.js'
import { Remarks } from '../remarks.js'
import { LayerCollector } from './layers.js'
import { arrayAt, fail, objectAt } from './positions.js'
import { readDrawing } from './shapes.js'

/**
 * @param geometry  a Polygon, a MultiPolygon, or a GeometryCollection of these
 * @param path  that an error begins with
 * @throws ServiceError  that names the position or the ring at fault
 */
export function readArea(geometry: object, path: string): Polygons {
  refuseOthers(geometry, path)
  const most = {
    vertexCount: limits.namedAreaVertexCount,
    ringCount: limits.namedAreaRingCount,
  }
  const layers = new LayerCollector(ringBudget(), most)
  const { shapes } = readDrawing(geometry, path, new Remarks(), undefined, layers)
  const polygons = shapes.included[0]?.polygons
  if (polygons !== undefined && polygons.bounds.length > 0) return polygons
  return fail('InvalidGeoJson', 'has no polygon, and would select nobody', path)
}

/** A point or a line has no inside: whoever names an area does not mean who is exactly there. */
function refuseOthers(value: unknown, path: string): void {
  const geometry = objectAt(value, path)
  const type = member(geometry, 'type')
  if (type === 'Polygon' || type === 'MultiPolygon') return
  if (type !== 'GeometryCollection') {
    fail('UnknownGeometryType', 'must be a Polygon or a MultiPolygon', path)
  }
  const geometries = arrayAt(member(geometry, 'geometries'), `${path}.geometries`)
  for (const [index, item] of geometries.entries()) {
    if (isObject(item)) refuseOthers(item, `${path}.geometries[${index}]`)
  }
}
