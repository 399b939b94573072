/**
 * Reads the shapes of a request into layers. A shape that cannot be understood is refused with its
 * path, such as `geoJSON.features[2].geometry.coordinates[0][3]`. No shape is dropped or widened.
 *
 * @module
 */

import { isNwsAlert } from '../../cap/nws-feature.js'
import { hasFurtherPages } from '../../geometry/further-pages.js'
import { lowerCase } from '../../interface/letter-case.js'
import { unknownName } from '../../interface/unknown-members.js'
import { limits } from '../../limits.js'
import type { NamedAreas } from '../named-areas.js'
import { type JsonObject, member } from '../parse.js'
import { Remarks } from '../remarks.js'
import type { SourceReference } from '../source-ids.js'
import { areaNamesOf, findArea, findGeocode, namesIn } from './area-names.js'
import { type DrawnAlert, readNwsFeature } from './cap.js'
import { type Drawing, drawingOf } from './drawing.js'
import { isEsriGeometry, readEsriGeometry } from './esri.js'
import { featurePath } from './feature-extents.js'
import {
  type FeatureProperties,
  NO_PROPERTIES,
  readProperties,
  refuseMisplacedProperties,
} from './feature-properties.js'
import { COORDINATE_TYPES, FEW_POINTS, readCoordinates } from './geojson.js'
import { type GeometrySink, LayerCollector } from './layers.js'
import { NOTATION_NAMES, readNotationIn } from './notations.js'
import { arrayAt, fail, objectAt } from './positions.js'
import {
  readSpatialReference,
  refuseForeignCrs,
  type SpatialReference,
} from './spatial-reference.js'
import { MEMBERS_OF, type StrangeNames, tellStrangeMembers } from './strange-names.js'

/**
 * Reads a FeatureCollection, a Feature or a bare geometry: its shapes, and the sources that features
 * are limited to. Null, absent and an object without any member, as clients write an empty
 * collection, are no shape.
 *
 * @param layers  where they are collected; with the bounds of a request unless given
 * @throws ServiceError  that names the feature, or the position, at fault
 */
export function readDrawing(
  value: unknown,
  path: string,
  remarks: Remarks = new Remarks(),
  areas?: NamedAreas,
  layers?: LayerCollector,
): Drawing {
  const reader = new ShapeReader(remarks, areas, layers)
  reader.read(value, path)
  return reader.drawing()
}

/** Reads what several members of a request draw into one drawing. */
export class ShapeReader {
  readonly layers: LayerCollector
  readonly #sourceReferences: SourceReference[] = []
  readonly #strange: StrangeNames
  readonly #remarks: Remarks
  readonly #areas: NamedAreas | undefined

  /** @param areas  that features and members may name; without them, none can be named */
  constructor(
    remarks: Remarks,
    areas: NamedAreas | undefined,
    layers: LayerCollector = new LayerCollector(),
  ) {
    this.layers = layers
    this.#strange = remarks
    this.#remarks = remarks
    this.#areas = areas
  }

  /** All that was read; to be called once. */
  drawing(): Drawing {
    return drawingOf(this.layers, this.#sourceReferences)
  }

  /**
   * Reads a list of names of areas, or one.
   *
   * @throws ServiceError  UnknownArea, or InvalidRequest for what is no list of names
   */
  readAreas(value: unknown, path: string): void {
    for (const { name, at } of namesIn(value, path)) {
      this.layers.features.begin(-1, at)
      this.layers.area(findArea(this.#areas, name, at), NO_PROPERTIES, at)
    }
  }

  /**
   * Reads what an alert draws.
   *
   * @throws ServiceError  naming the polygon, the circle or the geocode at fault
   */
  readDrawn({ drawing, paths, geocodePaths }: DrawnAlert): void {
    for (const [index, { geometry, properties }] of drawing.features.entries()) {
      const path = paths[index]
      this.layers.features.begin(-1, path)
      if (properties.area === undefined) this.#readFeature({ geometry, properties }, path)
      for (const { name } of namesIn(properties.area, path)) {
        const at = geocodePaths.get(name) ?? path
        this.layers.area(findGeocode(this.#areas, name, at), NO_PROPERTIES, at)
      }
    }
  }

  read(value: unknown, path: string): void {
    if (value === undefined || value === null) return
    const object = objectAt(value, path)
    if (Object.keys(object).length === 0) return
    refuseSeveralShapes(object, path)
    const type = member(object, 'type')
    const features = member(object, 'features', 'shapes')
    if (type === 'FeatureCollection' || features !== undefined) {
      this.#readFeatures(object, type, features, path)
    } else if (type === 'Feature' || member(object, 'geometry') !== undefined) {
      this.layers.features.begin(-1, path)
      this.#readFeature(object, path)
    } else {
      this.layers.features.begin(-1, path)
      this.#readWhole(object, path, undefined, this.layers.sinkFor(NO_PROPERTIES, path))
    }
  }

  #readFeatures(object: JsonObject, type: unknown, features: unknown, path: string): void {
    expectType(type, 'FeatureCollection', path)
    refuseMisplacedProperties(object, path, false, this.#strange)
    tellStrangeMembers(object, path, MEMBERS_OF.collection, this.#strange)
    tellNotations(object, path, this.#strange)
    refuseForeignCrs(object, path)
    const referencePath = `${path}.spatialReference`
    const reference = readSpatialReference(member(object, 'spatialreference'), referencePath)
    if (features === undefined) fail('InvalidGeoJson', 'has no features', path)
    if (hasFurtherPages(object)) this.#remarks.add('FurtherFeatures', FURTHER, path)
    if (features === null) return
    const list = arrayAt(features, `${path}.features`)
    if (list.length > limits.featureCount) {
      fail('InvalidGeoJson', `has more than ${limits.featureCount} features`, `${path}.features`)
    }
    for (const [index, feature] of list.entries()) {
      const at = featurePath(path, index)
      this.layers.features.begin(index, path)
      this.#readFeature(objectAt(feature, at), at, reference)
    }
  }

  /** @param reference  what the collection says of Esri geometries in it */
  #readFeature(feature: JsonObject, path: string, reference?: SpatialReference): void {
    expectType(member(feature, 'type'), 'Feature', path)
    refuseSeveralShapes(feature, path)
    refuseForeignCrs(feature, path)
    refuseMisplacedProperties(feature, path, true, this.#strange)
    tellStrangeMembers(feature, path, MEMBERS_OF.feature, this.#strange)
    tellNotations(feature, path, this.#strange)
    const propertiesPath = `${path}.properties`
    const properties = readProperties(member(feature, 'properties'), propertiesPath, this.#strange)
    this.#sourceReferences.push(...properties.sourceReferences)
    const geometry = member(feature, 'geometry')
    const areaNames = areaNamesOf(feature, path)
    if (areaNames !== undefined) {
      for (const { name, at } of areaNames) {
        this.layers.area(findArea(this.#areas, name, at), properties, at)
      }
      if (areaNames.length === 0) refuseNearest(properties, path)
      return
    }
    if (geometry === undefined) fail('InvalidGeoJson', 'has no geometry', path)
    if (geometry === null && isNwsAlert(feature)) {
      if (!isPlain(properties)) {
        fail(
          'InvalidGeoJson',
          'is an alert without a geometry, and selects its area as it is',
          path,
        )
      }
      const alert = readNwsFeature(feature, path, this.#remarks)
      // What its geocodes name stands in the place of its geometry.
      this.layers.features.isPlace()
      this.readDrawn(alert)
      return
    }
    const ownPath = `${path}.spatialReference`
    const own = readSpatialReference(member(feature, 'spatialreference'), ownPath)
    const nearestCount = this.layers.nearestCount
    if (geometry !== null) {
      const geometryPath = `${path}.geometry`
      const sink = this.layers.sinkFor(properties, path)
      this.#readWhole(objectAt(geometry, geometryPath), geometryPath, own ?? reference, sink)
    }
    if (this.layers.nearestCount === nearestCount) refuseNearest(properties, path)
  }

  /** The geometry of a feature: of its rings one at least must have an area. */
  #readWhole(
    geometry: JsonObject,
    path: string,
    reference: SpatialReference | undefined,
    into: GeometrySink,
  ): void {
    this.#readGeometry(geometry, path, reference, into)
    const degenerate = into.degenerateRing()
    if (degenerate !== undefined) fail('DegenerateRing', FEW_POINTS, degenerate)
  }

  /** Collections may hold collections, as deep as a body may nest. */
  #readGeometry(
    geometry: JsonObject,
    path: string,
    reference: SpatialReference | undefined,
    into: GeometrySink,
  ): void {
    refuseMisplacedProperties(geometry, path, false, this.#strange)
    tellStrangeMembers(geometry, path, MEMBERS_OF.geometry, this.#strange)
    refuseForeignCrs(geometry, path)
    const notated = readNotationIn(geometry, path)
    if (notated !== undefined) {
      refuseOther(reference, path)
      const { type, ...rest } = notated.geometry
      this.#readGeometry({ type, ...rest }, notated.path, undefined, into)
      return
    }
    tellNotations(geometry, path, this.#strange)
    if (isEsriGeometry(geometry)) {
      readEsriGeometry(geometry, path, reference, into)
      return
    }
    refuseSeveralShapes(geometry, path)
    refuseMercator(geometry, path, reference)
    const type = member(geometry, 'type')
    if (type !== 'GeometryCollection') {
      readCoordinates(type, member(geometry, 'coordinates'), path, into)
      return
    }
    const geometriesPath = `${path}.geometries`
    const geometries = arrayAt(member(geometry, 'geometries'), geometriesPath)
    for (const [index, item] of geometries.entries()) {
      const itemPath = `${geometriesPath}[${index}]`
      this.#readGeometry(objectAt(item, itemPath), itemPath, reference, into)
    }
  }
}

/** Whether properties change nothing of whom a feature selects. */
function isPlain({
  isExcluded,
  radiusMetres,
  nearestCount,
  sourceIds,
}: FeatureProperties): boolean {
  const reach = radiusMetres ?? nearestCount
  return !isExcluded && reach === undefined && sourceIds === null
}

/** Tells of notations where they mean nothing: beside the geometry instead of in its place. */
function tellNotations(object: JsonObject, path: string, strange: StrangeNames): void {
  for (const name in object) {
    const isSet = object[name] !== null && object[name] !== false
    if (!isSet || !NOTATION_NAMES.includes(lowerCase(name))) continue
    const advice = 'it belongs into the request, or into an object in the place of the geometry'
    strange.doubtful(unknownName(path, name, advice))
  }
}

/** An object with several members that hold a shape: to read one would drop the others. */
function refuseSeveralShapes(object: JsonObject, path: string): void {
  let first: string | undefined
  for (const name in object) {
    if (!SHAPE_MEMBERS.includes(lowerCase(name))) continue
    if (first !== undefined) fail('InvalidGeoJson', `has both ${first} and ${name}`, path)
    first = name
  }
}

const SHAPE_MEMBERS = [
  'features',
  'shapes',
  'geometry',
  'geometries',
  'coordinates',
  'rings',
  'paths',
]

/** Other notations say by themselves what they are in. */
function refuseOther(inherited: SpatialReference | undefined, path: string): void {
  if ((inherited ?? 'degrees') === 'degrees') return
  const problem = 'is in degrees, but the spatialReference around it is not'
  fail('UnknownSpatialReference', problem, path)
}

/** GeoJSON is in degrees, whatever the collection around it says. */
function refuseMercator(
  geometry: JsonObject,
  path: string,
  inherited: SpatialReference | undefined,
): void {
  const referencePath = `${path}.spatialReference`
  const own = readSpatialReference(member(geometry, 'spatialreference'), referencePath)
  if ((own ?? inherited ?? 'degrees') === 'degrees') return
  fail('UnknownSpatialReference', 'cannot be other than degrees for GeoJSON', referencePath)
}

/** Without a place to be near to, a feature that is to narrow the others would not. */
function refuseNearest({ nearestCount }: FeatureProperties, path: string): void {
  if (nearestCount === undefined) return
  fail('InvalidNearest', 'picks the nearest to a Point, but has none', path)
}

function expectType(type: unknown, expected: string, path: string): void {
  if (type === undefined || type === null || type === expected) return
  const isGeometry = expected === 'Feature' && COORDINATE_TYPES.includes(String(type))
  const advice = isGeometry
    ? ': a geometry is the member geometry of a Feature'
    : ', in this letter case'
  fail('UnknownGeometryType', `must be "${expected}"${advice}`, `${path}.type`)
}

const FURTHER =
  'says that its server has further features, which are not in it: get the other pages, too, and leave out what says so'
