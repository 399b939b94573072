/**
 * The areas of an alert as a context has them. Geocodes become the polygons that the gazetteer has now, so that
 * what the alert selects never changes by itself.
 *
 * @module
 */

import type { Alert, AlertArea } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import { isTakenAsItLies } from '../../geometry/polygon/antimeridian.js'
import { type DrawnPolygon, drawnPolygons } from '../../geometry/polygon/drawn-polygons.js'
import { UNITS_PER_DEGREE, UNITS_PER_TURN } from '../../geometry/units.js'
import type { Area } from '../../interface/context.js'
import { limits } from '../../limits.js'
import type { DrawnFeature, Position } from '../../notations/drawn.js'
import type { NamedAreas } from '../../selection/named-areas.js'
import { findGeocode } from '../../selection/shapes/area-names.js'
import type { DrawnAlert } from '../../selection/shapes/cap.js'

/**
 * One for each area of the alert of which something is drawn, with its exact `Drawing` and without its outline.
 *
 * @throws ServiceError  UnknownArea, or TooManyVertices where the geocodes have more than can be kept
 */
export function alertAreas(
  alert: Alert,
  { drawing, paths, geocodePaths }: DrawnAlert,
  areas: NamedAreas | undefined,
): Area[] {
  const room = { vertexCount: limits.vertexCount }
  const known = alert.infos.flatMap((info) => info.areas)
  const features = new Map<AlertArea, DrawnFeature[]>()
  for (const [at, feature] of drawing.features.entries()) {
    const path = paths[at]
    const own = known.find((area) => path === area.path || path.startsWith(`${area.path}.`))
    if (own === undefined) throw new Error('what is drawn is of an area')
    const pathOf = (name: string) => geocodePaths.get(name) ?? path
    const resolved = resolvedFeature(feature, pathOf, areas, room)
    features.set(own, [...(features.get(own) ?? []), resolved])
  }
  return Array.from(features, ([area, list], at) => ({
    Id: String(at + 1),
    Name: area.areaDesc,
    Drawing: { type: 'FeatureCollection', features: list },
  }))
}

/** A feature with a geometry, which selects whom the other one does. */
function resolvedFeature(
  feature: DrawnFeature,
  pathOf: (geocode: string) => string,
  areas: NamedAreas | undefined,
  room: { vertexCount: number },
): DrawnFeature {
  const { area } = feature.properties
  if (area === undefined) return feature
  const names = typeof area === 'string' ? [area] : area
  const coordinates = names.flatMap((name) => {
    const path = pathOf(name)
    const { polygons } = findGeocode(areas, name, path)
    room.vertexCount -= polygons.vertices.length / 2
    if (room.vertexCount < 0) {
      const problem = `has geocodes with more than ${limits.vertexCount} positions, too many to be kept`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
    return drawnPolygons(polygons).map((drawn) => coordinatesOf(drawn, path))
  })
  return { type: 'Feature', geometry: { type: 'MultiPolygon', coordinates }, properties: {} }
}

/** A polygon as it lies, not cut at the antimeridian, since a cut would add positions. */
function coordinatesOf({ shell, holes }: DrawnPolygon, path: string) {
  return [shell, ...holes].map((ring): readonly Position[] => {
    if (ring.isPolar === true) {
      const problem = 'has a geocode whose area holds a pole, which cannot be kept'
      throw new ServiceError('TooComplex', `${path} ${problem}`, path)
    }
    const east = isTakenAsItLies(ring) ? 0 : UNITS_PER_TURN
    const positions: Position[] = []
    for (let at = 0; at < ring.length; at += 2) {
      positions.push([(ring[at] + east) / UNITS_PER_DEGREE, ring[at + 1] / UNITS_PER_DEGREE])
    }
    return [...positions, positions[0]]
  })
}
