/**
 * The operations on areas that have names.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { featureCollection } from '../format/geojson.js'
import type { FoundArea } from '../gazetteer/found-area.js'
import type { Gazetteer } from '../gazetteer/gazetteer.js'
import { lngOnGlobe } from '../geometry/polygon/antimeridian.js'
import { POLE_UNITS, toUnits } from '../geometry/units.js'
import {
  AreaFeatureSchema,
  type AreaList,
  AreaListSchema,
  AreaNameSchema,
  AreaSearchSchema,
  type AreaSummary,
} from '../interface/areas.js'
import { bind } from '../interface/bind.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { JsonObject } from '../selection/parse.js'
import { Remarks } from '../selection/remarks.js'
import { namedAreaFeature } from './area-features.js'
import { columnsOf, documentAnswer, rowOf, tableOf, withWarnings } from './document-answer.js'
import type { Execute } from './execute.js'

/** @param current  the gazetteer as it is now, if there is one */
export function areaOperations(
  current: () => Gazetteer | undefined,
  unknownMembers?: UnknownMembers,
): {
  GetAreasRequest: Execute
  GetAreaRequest: Execute
} {
  const open = () => {
    const gazetteer = current()
    if (gazetteer !== undefined) return gazetteer
    throw new ServiceError('Unavailable', 'this service has no areas with names')
  }
  return {
    async GetAreasRequest(request) {
      const remarks = new Remarks(unknownMembers)
      return withWarnings(listAnswer(open(), request, remarks), remarks)
    },
    async GetAreaRequest(request) {
      const remarks = new Remarks(unknownMembers)
      const { Name } = bind(AreaNameSchema, request, remarks.onUnknown)
      if (Name === undefined) throw new ServiceError('InvalidRequest', 'Name is missing', 'Name')
      return withWarnings(areaAnswer(open(), Name), remarks)
    },
  }
}

function listAnswer(gazetteer: Gazetteer, request: JsonObject, { onUnknown }: Remarks): Answer {
  const bound = bind(AreaSearchSchema, request, onUnknown)
  const { layer, q, limit = limits.areaPageDefaultCount, after } = bound
  if (q !== undefined && q.length > limits.areaQueryCharCount) {
    const problem = `q must have at most ${limits.areaQueryCharCount} characters`
    throw new ServiceError('InvalidRequest', problem, 'q')
  }
  if (layer !== undefined) assertLayer(gazetteer, layer)
  const at = bound.at === undefined ? undefined : placeOf(bound.at)
  const { areas, next } = gazetteer.search({ layer, q, at, limit, after })
  const list: AreaList = {
    Version: gazetteer.version,
    Results: areas.map(summaryOf),
    ...(next !== undefined && { NextAfter: next }),
    Layers: gazetteer.layers().map(({ layer: Layer, areaCount, source, licence }) => ({
      Layer,
      AreaCount: areaCount,
      ...(source !== undefined && { Source: source }),
      ...(licence !== undefined && { Licence: licence }),
    })),
  }
  const headers = {
    ...headersOf(gazetteer),
    ...(next !== undefined && { 'X-Next-After': next }),
  }
  const json = Buffer.from(JSON.stringify(list))
  const answer = documentAnswer({ json, columns: LIST_COLUMNS, table: RESULTS, headers })
  return { ...answer, isPage: next !== undefined }
}

function areaAnswer(gazetteer: Gazetteer, name: string): Answer {
  const area = gazetteer.find(name)
  if (area === undefined) throw unknownArea(gazetteer, name)
  const { id, aliases, polygons } = area
  const colon = id.indexOf(':')
  const found = {
    id,
    layer: id.slice(0, colon),
    key: id.slice(colon + 1),
    name: area.name,
    aliases,
  }
  const feature = namedAreaFeature(summaryOf(found), polygons)
  const json = Buffer.from(JSON.stringify(feature))
  const answer = documentAnswer({
    json,
    columns: FEATURE_COLUMNS,
    table: rowOf(FEATURE_COLUMNS),
    headers: headersOf(gazetteer),
  })
  const { geometry, properties } = feature
  return { ...answer, geoJson: () => featureCollection({}, [{ id, geometry, properties }]) }
}

function unknownArea(gazetteer: Gazetteer, name: string): ServiceError {
  const near = gazetteer.nearest(name)
  const hint =
    near.length > 0 ? `; near it are ${near.join(', ')}` : '; GET /api/areas finds areas by name'
  return new ServiceError('UnknownArea', `Name is no area that has a name here${hint}`, 'Name')
}

function assertLayer(gazetteer: Gazetteer, layer: string): void {
  const layers = gazetteer.layers().map((known) => known.layer)
  if (layers.some((known) => known.toLowerCase() === layer.toLowerCase())) return
  const problem = `layer must be one of the gazetteer: ${layers.join(', ') || 'it has none'}`
  throw new ServiceError('InvalidRequest', problem, 'layer')
}

function placeOf(text: string): readonly [lng: number, lat: number] {
  const match = PLACE.exec(text)
  if (match === null) {
    const problem = 'at must be longitude and latitude in degrees, as in -95.37,29.76'
    throw new ServiceError('InvalidRequest', problem, 'at')
  }
  const [lng, lat] = [toUnits(Number(match[1])), toUnits(Number(match[2]))]
  if (Math.abs(lat) > POLE_UNITS) {
    const problem = 'at must have a latitude within ±90 degrees, behind the longitude'
    throw new ServiceError('LatitudeOutOfRange', problem, 'at')
  }
  return [lngOnGlobe(lng), lat]
}

const PLACE = /^\s*([+-]?\d{1,9}(?:\.\d{1,20})?)\s*,\s*([+-]?\d{1,9}(?:\.\d{1,20})?)\s*$/

function summaryOf({ id, layer, key, name, aliases }: FoundArea): AreaSummary {
  return { Id: id, Layer: layer, Key: key, Name: name, Aliases: [...aliases] }
}

/** Answers are the same while the version is. */
function headersOf({ version }: Gazetteer): Readonly<Record<string, string>> {
  return { ETag: `W/"${version}"`, 'Cache-Control': 'no-cache' }
}

const LIST_COLUMNS = columnsOf(AreaListSchema)

const RESULTS = tableOf('Results', columnsOf(AreaListSchema.properties.Results.items))

const FEATURE_COLUMNS = columnsOf(AreaFeatureSchema)
