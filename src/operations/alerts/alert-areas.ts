/**
 * The areas of an alert as a context has them. Geocodes become the polygons that the gazetteer has now, so that
 * what the alert selects never changes by itself.
 *
 * @module
 */

import type { CapDrawing } from '../../cap/drawing.js'
import type { Alert, AlertArea } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import { type Polygons, ringsOf } from '../../geometry/polygon/polygons.js'
import { HALF_TURN, UNITS_PER_DEGREE, UNITS_PER_TURN } from '../../geometry/units.js'
import type { Area } from '../../interface/context.js'
import { limits } from '../../limits.js'
import type { DrawnFeature, Position } from '../../notations/drawn.js'
import type { NamedAreas } from '../../selection/named-areas.js'
import { findArea } from '../../selection/shapes/area-names.js'

/**
 * One for each area of the alert of which something is drawn, with its exact `Drawing` and without its outline.
 *
 * @throws ServiceError  UnknownArea, or TooManyVertices where the geocodes have more than can be kept
 */
export function alertAreas(
  alert: Alert,
  { drawing, paths }: Pick<CapDrawing, 'drawing' | 'paths'>,
  areas: NamedAreas | undefined,
): Area[] {
  const room = { vertexCount: limits.vertexCount }
  const known = alert.infos.flatMap((info) => info.areas)
  const features = new Map<AlertArea, DrawnFeature[]>()
  for (const [at, feature] of drawing.features.entries()) {
    const path = paths[at]
    const own = known.find((area) => path === area.path || path.startsWith(`${area.path}.`))
    if (own === undefined) throw new Error('what is drawn is of an area')
    const resolved = resolvedFeature(feature, path, areas, room)
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
  path: string,
  areas: NamedAreas | undefined,
  room: { vertexCount: number },
): DrawnFeature {
  const { area } = feature.properties
  if (area === undefined) return feature
  const names = typeof area === 'string' ? [area] : area
  const coordinates = names.flatMap((name) => {
    const { polygons } = findArea(areas, name, path)
    room.vertexCount -= polygons.vertices.length / 2
    if (room.vertexCount < 0) {
      const problem = `has geocodes with more than ${limits.vertexCount} positions, too many to be kept`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
    return coordinatesOf(polygons)
  })
  return { type: 'Feature', geometry: { type: 'MultiPolygon', coordinates }, properties: {} }
}

/**
 * Polygons as they lie, not cut at the antimeridian, since a cut would add positions. Those that are there once
 * for each turn at which they meet the globe are written once.
 */
function coordinatesOf(polygons: Polygons): readonly (readonly (readonly Position[])[])[] {
  const { polygonStarts } = polygons
  const written = new Map<string, readonly (readonly Position[])[]>()
  for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
    const units = ringsOf(polygons, polygon)
    const turns = Math.floor((units[0][0] + HALF_TURN) / UNITS_PER_TURN)
    const rings = units.map((ring): readonly Position[] => {
      const positions: Position[] = []
      for (let at = 0; at < ring.length; at += 2) {
        const lng = ring[at] - turns * UNITS_PER_TURN
        positions.push([lng / UNITS_PER_DEGREE, ring[at + 1] / UNITS_PER_DEGREE])
      }
      return [...positions, positions[0]]
    })
    written.set(JSON.stringify(rings), rings)
  }
  return [...written.values()]
}
