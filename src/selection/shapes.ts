/**
 * GeoJSON into flat polygons. Whatever cannot be understood is refused with its path, such as
 * `geoJSON.features[2].geometry.coordinates[0][3]`: a shape is never dropped and never widened.
 *
 * @module
 */
import { type RingFault, unwrapLine, unwrapRing } from '../geometry/antimeridian.js'
import { PolygonList, type UnitRing } from '../geometry/polygon-list.js'
import type { Shapes } from '../geometry/polygons.js'
import { limits } from '../limits.js'
import { isObject, type JsonObject, kindOf, member } from './parse.js'
import {
  arrayAt,
  fail,
  nonEmptyArrayAt,
  objectAt,
  readPosition,
  readPositions,
} from './positions.js'

/**
 * Reads a FeatureCollection, a Feature or a bare geometry. Null, absent and an object without any
 * member, as clients write an empty collection, are no shape.
 *
 * @throws ServiceError  InvalidGeoJson, UnsupportedGeometry or TooComplex
 */
export function readShapes(value: unknown, path: string): Shapes {
  const reader = new ShapeReader()
  reader.read(value, path)
  return { included: reader.included.polygons(), excluded: reader.excluded.polygons() }
}

class ShapeReader {
  readonly included = new PolygonList()
  readonly excluded = new PolygonList()
  #positionCount = 0
  #ringCount = 0

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
    } else this.#readGeometry(object, path, this.included)
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
    refuseMisplacedProperties(feature, path)
    const excludes = readProperties(member(feature, 'properties'), `${path}.properties`)
    const geometry = member(feature, 'geometry')
    if (geometry === undefined) fail('InvalidGeoJson', 'has no geometry', path)
    if (geometry === null) return
    const geometryPath = `${path}.geometry`
    const into = excludes ? this.excluded : this.included
    this.#readGeometry(objectAt(geometry, geometryPath), geometryPath, into)
  }

  /** Collections may hold collections, as deep as a body may nest. */
  #readGeometry(geometry: JsonObject, path: string, into: PolygonList): void {
    refuseSeveralShapes(geometry, path)
    const type = member(geometry, 'type')
    if (type === 'GeometryCollection') {
      const geometriesPath = `${path}.geometries`
      arrayAt(member(geometry, 'geometries'), geometriesPath).forEach((item, index) => {
        const itemPath = `${geometriesPath}[${index}]`
        this.#readGeometry(objectAt(item, itemPath), itemPath, into)
      })
      return
    }
    const read = typeof type === 'string' ? this.#readers[type] : undefined
    if (read === undefined) {
      const found = typeof type === 'string' ? 'unknown' : kindOf(type)
      const problem = `must be the type of a GeoJSON geometry, but is ${found}`
      fail('InvalidGeoJson', problem, `${path}.type`)
    }
    read(member(geometry, 'coordinates'), `${path}.coordinates`, into)
  }

  readonly #readers: Readonly<Record<string, CoordinateReader>> = Object.assign(
    Object.create(null) as Record<string, CoordinateReader>,
    {
      Polygon: (value, path, into) => this.#readPolygon(value, path, into),
      MultiPolygon: (value, path, into) =>
        eachOf(value, path, (item, itemPath) => this.#readPolygon(item, itemPath, into)),
      LineString: (value, path, into) => this.#readLine(value, path, into),
      MultiLineString: (value, path, into) =>
        eachOf(value, path, (item, itemPath) => this.#readLine(item, itemPath, into)),
      Point: (value, path, into) => this.#readPoint(value, path, into),
      MultiPoint: (value, path, into) =>
        eachOf(value, path, (item, itemPath) => this.#readPoint(item, itemPath, into)),
    } satisfies Record<string, CoordinateReader>,
  )

  #readPolygon(value: unknown, path: string, into: PolygonList): void {
    const rings = nonEmptyArrayAt(value, path)
    const [shell, ...holes] = rings.map((ring, i) => this.#readRing(ring, `${path}[${i}]`))
    into.add(shell, holes)
  }

  /**
   * A ring of three positions or more is taken as it is, even where simplification has left it
   * without area: then it holds what lies on it.
   */
  #readRing(value: unknown, path: string): UnitRing {
    const positions = arrayAt(value, path)
    this.#count(positions.length, path)
    const ring = readPositions(positions, path)
    if (positions.length < 3) fail('InvalidGeoJson', 'must have at least three positions', path)
    dropClosingVertex(ring)
    const unwrapped = unwrapRing(ring)
    if (typeof unwrapped === 'string') fail('InvalidGeoJson', RING_FAULTS[unwrapped], path)
    return unwrapped
  }

  #readLine(value: unknown, path: string, into: PolygonList): void {
    const positions = arrayAt(value, path)
    this.#count(2 * positions.length, path)
    const line = readPositions(positions, path)
    if (positions.length < 2) fail('InvalidGeoJson', 'must have at least two positions', path)
    into.addLine(unwrapLine(line))
  }

  #readPoint(value: unknown, path: string, into: PolygonList): void {
    this.#count(1, path)
    const point: number[] = []
    readPosition(value, path, point)
    into.addLine(point)
  }

  #count(positionCount: number, path: string): void {
    this.#positionCount += positionCount
    if (this.#positionCount > limits.vertexCount) {
      fail('TooComplex', `takes the request beyond ${limits.vertexCount} positions`, path)
    }
    if (++this.#ringCount > limits.ringCount) {
      fail('TooComplex', `takes the request beyond ${limits.ringCount} rings`, path)
    }
  }
}

type CoordinateReader = (coordinates: unknown, path: string, into: PolygonList) => void

function eachOf(value: unknown, path: string, read: (item: unknown, path: string) => void): void {
  nonEmptyArrayAt(value, path).forEach((item, index) => {
    read(item, `${path}[${index}]`)
  })
}

const RING_FAULTS: Readonly<Record<RingFault, string>> = {
  AmbiguousPole: 'goes round the globe so near the equator that it could hold either pole',
  SeveralTurns: 'goes round the globe more than once',
}

function dropClosingVertex(ring: number[]): void {
  const end = ring.length
  if (ring[0] === ring[end - 2] && ring[1] === ring[end - 1]) ring.length = end - 2
}

/** An object with several members that hold a shape: to read one would drop the others. */
function refuseSeveralShapes(object: JsonObject, path: string): void {
  const names = Object.keys(object).filter((name) => SHAPE_MEMBERS.includes(name.toLowerCase()))
  if (names.length > 1) fail('InvalidGeoJson', `has both ${names[0]} and ${names[1]}`, path)
}

const SHAPE_MEMBERS = ['features', 'shapes', 'geometry', 'geometries', 'coordinates']

/** Properties that change what a feature selects: to ignore one would warn the wrong people. */
const UNSUPPORTED_PROPERTIES = ['radius', 'buffer', 'nearest', 'sources']
const EXCLUDE = 'exclude'

/** Whether a feature is taken away instead of added. Other properties are the client's own. */
function readProperties(properties: unknown, path: string): boolean {
  if (!isObject(properties)) return false
  for (const name of Object.keys(properties)) {
    if (!UNSUPPORTED_PROPERTIES.includes(name.toLowerCase()) || isUnset(properties[name])) continue
    fail('UnsupportedGeometry', 'is not supported by this version', `${path}.${name}`)
  }
  const exclude = member(properties, EXCLUDE)
  if (isUnset(exclude)) return false
  if (exclude === true) return true
  return fail(
    'InvalidGeoJson',
    `must be true or false, not ${kindOf(exclude)}`,
    `${path}.${EXCLUDE}`,
  )
}

/** The same names beside `properties` instead of in it. */
function refuseMisplacedProperties(feature: JsonObject, path: string): void {
  for (const name of Object.keys(feature)) {
    const known = [...UNSUPPORTED_PROPERTIES, EXCLUDE].includes(name.toLowerCase())
    if (known && !isUnset(feature[name])) {
      fail('InvalidGeoJson', 'belongs into the properties of the feature', `${path}.${name}`)
    }
  }
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === false
}

function expectType(type: unknown, expected: string, path: string): void {
  if (type === undefined || type === null || type === expected) return
  fail('InvalidGeoJson', `must be "${expected}"`, `${path}.type`)
}
