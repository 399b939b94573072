/**
 * GeoJSON into flat polygons. Whatever cannot be understood is refused with its path, such as
 * `geoJSON.features[2].geometry.coordinates[0][3]`: a shape is never dropped and never widened.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import type { Polygons } from '../geometry/polygons.js'
import { toUnits } from '../geometry/units.js'
import { limits } from '../limits.js'
import { isObject, type JsonObject, kindOf, member } from './parse.js'

/** Collects the shapes of one request. */
export class ShapeReader {
  readonly #vertices: number[] = []
  readonly #ringStarts: number[] = [0]
  readonly #polygonStarts: number[] = [0]

  /**
   * Reads a FeatureCollection, a Feature or a bare geometry. Null, absent and an object without
   * any member, as clients write an empty collection, are no shape.
   */
  read(value: unknown, path: string): void {
    if (value === undefined || value === null) return
    const object = objectAt(value, path)
    if (Object.keys(object).length === 0) return
    refuseSeveralShapes(object, path)
    const type = member(object, 'type')
    const features = member(object, 'features', 'shapes')
    if (type === 'FeatureCollection' || features !== undefined) {
      this.#readFeatures(type, features, path)
    } else if (type === 'Feature' || member(object, 'geometry') !== undefined) {
      this.#readFeature(object, path)
    } else this.#readGeometry(object, path)
  }

  polygons(): Polygons {
    return {
      vertices: Float64Array.from(this.#vertices),
      ringStarts: Uint32Array.from(this.#ringStarts),
      polygonStarts: Uint32Array.from(this.#polygonStarts),
    }
  }

  #readFeatures(type: unknown, features: unknown, path: string): void {
    expectType(type, 'FeatureCollection', path)
    if (features === undefined) fail('InvalidGeoJson', 'has no features', path)
    if (features === null) return
    const list = arrayAt(features, `${path}.features`)
    if (list.length > limits.featureCount) {
      fail('InvalidGeoJson', `has more than ${limits.featureCount} features`, `${path}.features`)
    }
    list.forEach((feature, index) => {
      const featurePath = `${path}.features[${index}]`
      this.#readFeature(objectAt(feature, featurePath), featurePath)
    })
  }

  #readFeature(feature: JsonObject, path: string): void {
    expectType(member(feature, 'type'), 'Feature', path)
    refuseSeveralShapes(feature, path)
    refuseUnsupportedProperties(feature, path)
    refuseUnsupportedProperties(member(feature, 'properties'), `${path}.properties`)
    const geometry = member(feature, 'geometry')
    if (geometry === undefined) fail('InvalidGeoJson', 'has no geometry', path)
    if (geometry === null) return
    this.#readGeometry(objectAt(geometry, `${path}.geometry`), `${path}.geometry`)
  }

  #readGeometry(geometry: JsonObject, path: string): void {
    const type = member(geometry, 'type')
    const coordinates = member(geometry, 'coordinates')
    const coordinatesPath = `${path}.coordinates`
    if (type === 'Polygon') this.#readPolygon(coordinates, coordinatesPath)
    else if (type === 'MultiPolygon') {
      nonEmptyArrayAt(coordinates, coordinatesPath).forEach((polygon, index) => {
        this.#readPolygon(polygon, `${coordinatesPath}[${index}]`)
      })
    } else if (typeof type === 'string' && GEOMETRY_TYPES.includes(type)) {
      fail('UnsupportedGeometry', `is a ${type}; Polygon and MultiPolygon are supported`, path)
    } else {
      const found = typeof type === 'string' ? 'unknown' : kindOf(type)
      fail(
        'InvalidGeoJson',
        `must be the type of a GeoJSON geometry, but is ${found}`,
        `${path}.type`,
      )
    }
  }

  #readPolygon(value: unknown, path: string): void {
    nonEmptyArrayAt(value, path).forEach((ring, index) => {
      this.#readRing(ring, `${path}[${index}]`)
    })
    this.#polygonStarts.push(this.#ringStarts.length - 1)
  }

  /**
   * A ring of three positions or more is taken as it is, even where simplification has left it
   * without area: then it holds what lies on it.
   */
  #readRing(value: unknown, path: string): void {
    const positions = arrayAt(value, path)
    const start = this.#vertices.length
    if (start / 2 + positions.length > limits.vertexCount) {
      fail('TooComplex', `takes the request beyond ${limits.vertexCount} positions`, path)
    }
    if (this.#ringStarts.length > limits.ringCount) {
      fail('TooComplex', `takes the request beyond ${limits.ringCount} rings`, path)
    }
    for (let i = 0; i < positions.length; i++) this.#readPosition(positions[i], path, i)
    if (positions.length < 3) fail('InvalidGeoJson', 'must have at least three positions', path)
    this.#dropClosingVertex(start)
    refuseWideEdges(this.#vertices, start, path)
    this.#ringStarts.push(this.#vertices.length / 2)
  }

  #readPosition(position: unknown, path: string, index: number): void {
    if (!Array.isArray(position) || position.length < 2) {
      fail(
        'InvalidGeoJson',
        'must be a position: an array of longitude and latitude',
        at(path, index),
      )
    }
    const lng: unknown = position[0]
    const lat: unknown = position[1]
    if (typeof lng !== 'number' || typeof lat !== 'number') {
      fail('InvalidGeoJson', 'must hold two numbers, longitude and latitude', at(path, index))
    }
    if (!(lng >= -180 && lng <= 180)) {
      fail('InvalidGeoJson', 'must have a longitude from -180 to 180', at(path, index))
    }
    if (!(lat >= -90 && lat <= 90)) {
      fail('InvalidGeoJson', 'must have a latitude from -90 to 90', at(path, index))
    }
    this.#vertices.push(toUnits(lng), toUnits(lat))
  }

  #dropClosingVertex(start: number): void {
    const vertices = this.#vertices
    const end = vertices.length
    if (end - start <= 2) return
    if (vertices[start] === vertices[end - 2] && vertices[start + 1] === vertices[end - 1]) {
      vertices.length = end - 2
    }
  }
}

const GEOMETRY_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'GeometryCollection',
]

/** An object with several members that hold a shape: to read one would drop the others. */
function refuseSeveralShapes(object: JsonObject, path: string): void {
  const names = Object.keys(object).filter((name) => SHAPE_MEMBERS.includes(name.toLowerCase()))
  if (names.length > 1) fail('InvalidGeoJson', `has both ${names[0]} and ${names[1]}`, path)
}

const SHAPE_MEMBERS = ['features', 'shapes', 'geometry', 'geometries', 'coordinates']

/** Properties that change what a feature selects: to ignore one would warn the wrong people. */
const UNSUPPORTED_PROPERTIES = ['exclude', 'radius', 'buffer', 'nearest', 'sources']

function refuseUnsupportedProperties(properties: unknown, path: string): void {
  if (!isObject(properties)) return
  for (const name of Object.keys(properties)) {
    const value = properties[name]
    if (!UNSUPPORTED_PROPERTIES.includes(name.toLowerCase())) continue
    if (value === null || value === false) continue
    fail('UnsupportedGeometry', 'is not supported by this version', `${path}.${name}`)
  }
}

const HALF_TURN_UNITS = 1.8e9

/**
 * An edge of more than half a turn may mean the short way over the antimeridian or the long way
 * round; only the seam from exactly -180 to exactly 180 is as written.
 */
function refuseWideEdges(vertices: readonly number[], start: number, path: string): void {
  const end = vertices.length
  for (let i = start, from = end - 2; i < end; from = i, i += 2) {
    const span = Math.abs(vertices[i] - vertices[from])
    if (span <= HALF_TURN_UNITS || span === 2 * HALF_TURN_UNITS) continue
    fail(
      'UnsupportedGeometry',
      'is the end of an edge over more than 180 degrees; cut shapes at the antimeridian',
      at(path, (i - start) / 2),
    )
  }
}

function expectType(type: unknown, expected: string, path: string): void {
  if (type === undefined || type === null || type === expected) return
  fail('InvalidGeoJson', `must be "${expected}"`, `${path}.type`)
}

function objectAt(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value
  return fail('InvalidGeoJson', `must be an object, not ${kindOf(value)}`, path)
}

function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  return fail('InvalidGeoJson', `must be an array, not ${kindOf(value)}`, path)
}

function nonEmptyArrayAt(value: unknown, path: string): readonly unknown[] {
  const array = arrayAt(value, path)
  return array.length > 0 ? array : fail('InvalidGeoJson', 'must not be empty', path)
}

function at(path: string, index: number): string {
  return `${path}[${index}]`
}

function fail(code: ServiceErrorCode, problem: string, path: string): never {
  throw new ServiceError(code, `${path} ${problem}`, path)
}
