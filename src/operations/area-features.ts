/**
 * Areas as features of GeoJSON: of a context, and of the gazetteer. Rings of Esri, whose depth says what is a hole,
 * become polygons with holes, cut at the antimeridian.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { type BodyWriter, writeBody } from '../format/answer.js'
import { type Feature, featureCollection } from '../format/geojson.js'
import { type GlobeBox, globeBoxOf } from '../gazetteer/area-bounds.js'
import { NO_PARTS } from '../geometry/layer-parts.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { AreaSummary } from '../interface/areas.js'
import type { Area, MapContext } from '../interface/context.js'
import { limits } from '../limits.js'
import type { Region } from '../outline/clipper.js'
import { drawLayer, TooManyVertices } from '../outline/draw.js'
import { toArea } from '../outline/outline.js'
import { validate } from '../selection/validate.js'
import { shapeOf } from '../store/documents.js'

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

/** Polygons on the globe; none where the shape selects nothing, as in the count of the area. */
export function areaRegion(geometry: object): Region {
  const ledger = { vertexCount: Number.POSITIVE_INFINITY, hasShapesWithoutArea: false }
  const { included } = shapesOf(geometry)
  return included.flatMap((layer) => drawLayer(layer, ledger))
}

/** In GeoJSON; null without polygons. */
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

interface NamedAreaFeature {
  readonly type: 'Feature'
  readonly id: string
  readonly bbox: readonly number[]
  readonly geometry: object
  readonly properties: Readonly<Record<string, unknown>>
}

/** @throws ServiceError  TooManyVertices, where it is too large for an answer */
export function namedAreaFeature(properties: AreaSummary, polygons: Polygons): NamedAreaFeature {
  const region = drawnRegion(polygons, 'Name')
  return {
    type: 'Feature',
    id: properties.Id ?? '',
    bbox: degreesOf(globeBoxOf(polygons)),
    geometry: toArea(region).GeoJson as object,
    properties,
  }
}

/**
 * @param field  of the request that names the area, if one does
 * @throws ServiceError  TooManyVertices, where it is too large for an answer
 */
export function drawnRegion(polygons: Polygons, field?: string): Region {
  const ledger = { vertexCount: limits.areaDrawnVertexCount, hasShapesWithoutArea: false }
  try {
    return drawLayer({ ...NO_PARTS, polygons, sourceIds: null }, ledger)
  } catch (fault) {
    if (!(fault instanceof TooManyVertices)) throw fault
    const problem = `the area has more than ${limits.areaDrawnVertexCount} positions, too many to be sent`
    throw new ServiceError('TooManyVertices', problem, field)
  }
}

/** Seven decimals at most. */
function degreesOf(box: GlobeBox): number[] {
  return box.map((units) => Math.round(units) / UNITS_PER_DEGREE + 0)
}
