/**
 * Areas of TopoJSON: the features of one of its objects.
 *
 * @module
 */
import type { FeatureCollection } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryObject, Topology } from 'topojson-specification'
import { limits } from '../../limits.js'
import {
  type AreaFeature,
  type AreaFile,
  type AreaFileOptions,
  type AreaGeometry,
  chosenOf,
  readingFrom,
  refuse,
} from './area-file.js'
import { crsOfMember } from './geojson-file.js'
import { readWhole } from './whole-file.js'

export async function openTopoJson(
  path: string,
  file: string,
  { table }: AreaFileOptions,
): Promise<AreaFile> {
  const bytes = await readWhole(path, file, 'TopoJSON', limits.areaTextBytes)
  let topology: Partial<Topology> & { readonly crs?: unknown }
  try {
    topology = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refuse(file, 'it is not JSON in UTF-8, or it is cut off')
  }
  const { type, objects, arcs } = topology ?? {}
  if (type !== 'Topology' || typeof objects !== 'object' || !Array.isArray(arcs)) {
    return refuse(
      file,
      'it is not TopoJSON: its "type" is not Topology, or it has no objects or arcs',
    )
  }
  const chosen = chosenOf(file, Object.keys(objects), table, ['object', 'objects'])
  const object = objects[chosen] as GeometryObject
  const parts: readonly GeometryObject[] =
    object?.type === 'GeometryCollection' ? object.geometries : [object]
  const fields = new Set<string>()
  for (const part of parts) for (const name of Object.keys(part?.properties ?? {})) fields.add(name)
  return {
    fields: [...fields],
    crs: crsOfMember(topology.crs, file),
    featureCount: parts.length,
    features: readingFrom(file, 'TopoJSON', features(topology as Topology, parts)),
    close: async () => undefined,
  }
}

function* features(topology: Topology, parts: readonly GeometryObject[]): Generator<AreaFeature> {
  for (const part of parts) {
    // One at a time, so that the memory of the rings is that of one area.
    const { features } = feature(topology, {
      type: 'GeometryCollection',
      geometries: [part],
    } as never) as unknown as FeatureCollection
    const [{ geometry, properties }] = features
    yield { properties: properties ?? {}, geometry: geometry as AreaGeometry | null }
  }
}
