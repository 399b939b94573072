/**
 * A gazetteer in memory: areas by their ids, each as the reader of drawings reads it.
 *
 * @module
 */
import type { NamedArea, NamedAreas } from '../../../src/selection/named-areas.js'
import { validate } from '../../../src/selection/validate.js'

/** @param geometries  by ids such as `counties:48201` */
export function namedAreas(
  geometries: Readonly<Record<string, object>>,
  version = 'one',
): NamedAreas {
  const areas = new Map<string, NamedArea>()
  for (const [id, geometry] of Object.entries(geometries)) {
    const { included } = validate({ geoJSON: geometry }).shapes
    areas.set(id, { id, polygons: included[0].polygons })
  }
  return {
    version,
    find: (name) => areas.get(name),
    nearest: (name) => [...areas.keys()].filter((id) => id.startsWith(name.slice(0, -1))),
  }
}
