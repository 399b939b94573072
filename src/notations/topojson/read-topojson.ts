/**
 * TopoJSON as GeoJSON: the geometries of one object are the features, with their ids and properties, which
 * mean what they mean in GeoJSON. Positions are those that topojson-client computes, to the last bit.
 *
 * Objects of a topology are layers, often of the same places, such as counties and the states that they are in.
 * Their union is hardly ever meant, so that with several of them one has to be named.
 *
 * @module
 */
import { feature } from 'topojson-client'
import type { GeometryObject, Topology } from 'topojson-specification'
import type { DrawnGeometry, SentCollection } from '../drawn.js'
import { type FileFeature, REQUEST_BOUNDS } from '../file-feature.js'
import { checkTopology } from './check.js'
import { failAt, type JsonObject, objectAt } from './values.js'

/**
 * @param value  parsed JSON; its member `object` may name the object to take
 * @param path  of the member that it came in
 * @returns its features, and the members of the topology that TopoJSON does not define, such as `crs`, which the
 *   reader of drawings judges
 * @throws ServiceError  InvalidTopoJson with the path of the member, TooManyVertices or TooComplex
 */
export function readTopoJson(value: unknown, path: string): SentCollection {
  const topology = objectAt(value, path)
  const named = topology.object
  if (named !== undefined && typeof named !== 'string') failAt('must be a text', `${path}.object`)
  const foreign = Object.entries(topology).filter(([name]) => !DEFINED.has(name))
  const taken = foreign.find(([name]) => SHAPES.has(name.toLowerCase()))
  if (taken !== undefined) failAt('has a member of GeoJSON beside those of TopoJSON', path)
  return {
    ...Object.fromEntries(foreign),
    type: 'FeatureCollection',
    features: topoJsonFeatures(topology, path, named).map(({ id, properties, geometry }) => ({
      type: 'Feature',
      ...(id !== undefined && { id }),
      properties,
      geometry,
    })),
  }
}

/**
 * The features as an importer of areas wants them; the other values are as above.
 *
 * @param named  the object to take; it may be left out if there is only one
 * @param positionCount  how many positions they may have together
 */
export function topoJsonFeatures(
  value: unknown,
  path: string,
  named: string | undefined,
  positionCount: number = REQUEST_BOUNDS.positionCount,
): FileFeature[] {
  const topology = objectAt(value, path)
  if (topology.type !== 'Topology') failAt('must be "Topology"', `${path}.type`)
  const objects = objectAt(topology.objects, `${path}.objects`)
  const [name, ...others] = named === undefined ? Object.keys(objects) : [named]
  if (others.length > 0) {
    failAt('has several objects, which are layers: name the one to take as "object"', path)
  }
  if (name === undefined) failAt('has no object', `${path}.objects`)
  if (!Object.hasOwn(objects, name)) failAt('names no object', `${path}.object`)
  const objectPath = `${path}.objects.${SPEAKABLE.test(name) ? name : '*'}`
  const object = objectAt(objects[name], objectPath)
  checkTopology(topology, object, { path, objectPath, positionCount })
  return featuresOf(topology, object)
}

/** A name that cannot be a phone. */
const SPEAKABLE = /^[A-Za-z_-]{1,64}$/

/** What TopoJSON defines, and the name of the object. */
const DEFINED: ReadonlySet<string> = new Set([
  'type',
  'objects',
  'arcs',
  'transform',
  'bbox',
  'object',
])

/** What would be the shapes of a GeoJSON object. */
const SHAPES: ReadonlySet<string> = new Set([
  'type',
  'features',
  'shapes',
  'geometry',
  'geometries',
  'coordinates',
  'rings',
  'paths',
])

/** Of a topology that is checked. */
function featuresOf(topology: JsonObject, object: JsonObject): FileFeature[] {
  const expanded = feature(topology as unknown as Topology, object as unknown as GeometryObject)
  const list = expanded.type === 'FeatureCollection' ? expanded.features : [expanded]
  return list.map(({ id, properties, geometry }) => ({
    id,
    name: undefined,
    properties: properties ?? {},
    // Of the type null topojson-client makes null.
    geometry: geometry as DrawnGeometry | null,
  }))
}
