/**
 * A drawing of GeoJSON as the whole body of a request, which is then the request for this drawing.
 *
 * @module
 */
import { lowerCase } from '../interface/letter-case.js'
import type { JsonObject } from './parse.js'
import { COORDINATE_TYPES } from './shapes/geojson.js'

/**
 * Whether an object is a FeatureCollection, a Feature or a geometry instead of a request. A request that
 * has members of both is none: it would not be clear what is meant.
 */
export function isBareDrawing(object: JsonObject): boolean {
  let isDrawing = false
  for (const name in object) {
    if (name === 'geoJSON' || lowerCase(name) === 'geojson') return false
    if (name === 'type') isDrawing = TYPES.has(object[name])
  }
  return isDrawing
}

/** The request that a body asks, whose drawing may be all of it. */
export function requestOf(object: JsonObject): JsonObject {
  return isBareDrawing(object) ? { geoJSON: object } : object
}

const TYPES: ReadonlySet<unknown> = new Set([
  'FeatureCollection',
  'Feature',
  'GeometryCollection',
  ...COORDINATE_TYPES,
])
