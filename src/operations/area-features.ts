/**
 * The areas of a context as features of GeoJSON. What the Esri map libraries say by the depth of rings
 * becomes polygons with holes, cut at the antimeridian.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { type BodyWriter, writeBody } from '../format/answer.js'
import { type Feature, featureCollection } from '../format/geojson.js'
import type { Area, MapContext } from '../interface/context.js'
import type { Region } from '../outline/clipper.js'
import { drawLayer } from '../outline/draw.js'
import { toArea } from '../outline/notations.js'
import { validate } from '../selection/validate.js'
import { shapeOf } from '../store/shape-of.js'

/** @param context  read only when it is written */
export function areaFeatures(context: () => MapContext): BodyWriter {
  let whole: Promise<string> | undefined
  const text = () => {
    whole ??= collectionOf(context())
    return whole
  }
  return {
    write: async (sink) => writeBody(await text(), sink),
    byteCount: async () => Buffer.byteLength(await text()),
  }
}

async function collectionOf({ Areas = [], Alert: _, ...members }: MapContext): Promise<string> {
  const features: Feature[] = []
  for (const area of Areas) {
    features.push(featureOf(area))
    // Rings may take long to compare; other clients get their answers in between.
    await setImmediate()
  }
  return featureCollection(members, features)
}

function featureOf(area: Area): Feature {
  const { Geometry: _, Drawing: __, ...properties } = area
  const shape = shapeOf(area)
  const geometry = shape === undefined ? null : geometryOf(areaRegion(shape))
  return { id: properties.Id, geometry, properties }
}

/** Polygons on the globe; none where it is no shape that selects anybody, as the count of the area has it. */
export function areaRegion(geometry: object): Region {
  const ledger = { vertexCount: Number.POSITIVE_INFINITY, hasShapesWithoutArea: false }
  const { included } = shapesOf(geometry)
  return included.flatMap((layer) => drawLayer(layer, ledger))
}

/** As GeoJSON has it; null where it is nowhere. */
export function geometryOf(region: Region): object | null {
  if (region.length === 0) return null
  const { GeoJson } = toArea(region)
  if (region.length > 1 || GeoJson?.coordinates === undefined) return GeoJson ?? null
  return { type: 'Polygon', coordinates: GeoJson.coordinates[0] }
}

function shapesOf(geometry: object) {
  try {
    return validate({ geoJSON: geometry }).shapes
  } catch (fault) {
    // The area itself says that its shape is not valid.
    if (fault instanceof ServiceError) return { included: [] }
    throw fault
  }
}
