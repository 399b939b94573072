/**
 * Reads a drawing whose positions lie in a skeleton. It reads valid drawings of the usual forms, and
 * gives up on all others without a word: shapes.ts reads them as they were sent.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import { hasFurtherPages } from '../../geometry/further-pages.js'
import { ringBudget } from '../../geometry/ring-budget.js'
import { limits } from '../../limits.js'
import { isObject, type JsonObject } from '../parse.js'
import type { Skeleton } from '../skeleton/skeleton.js'
import type { SourceReference } from '../source-ids.js'
import { mayNameAreas } from './area-names.js'
import { type Drawing, drawingOf } from './drawing.js'
import { readEsriGeometry } from './esri.js'
import { featurePath } from './feature-extents.js'
import {
  type FeatureProperties,
  hasProperties,
  NO_PROPERTIES,
  readProperties,
} from './feature-properties.js'
import { LayerCollector } from './layers.js'
import { ShortGeometry } from './short-geometry.js'
import { ShortMembers } from './short-members.js'
import {
  readSpatialReference,
  refuseForeignCrs,
  type SpatialReference,
} from './spatial-reference.js'
import type { StrangeNames } from './strange-names.js'

/** As `readDrawing`. */
export function readShortDrawing(
  value: unknown,
  path: string,
  skeleton: Skeleton,
): Drawing | undefined {
  try {
    const reader = new ShortReader(skeleton)
    if (!reader.read(value, path)) return undefined
    return drawingOf(reader.layers, reader.sourceReferences)
  } catch (error) {
    // From what it shares with the long way, which will say the same with a path.
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

/** None of them holds anything of a request when it is over, but for what `find` overwrites. */
const ofDrawing = new ShortMembers()
const ofFeature = new ShortMembers()
const ofGeometry = new ShortMembers()

const NO_REFERENCES: readonly SourceReference[] = []

/** Names that may be mistakes are for the long way. */
const GIVE_UP: StrangeNames = { unknown: giveUp, doubtful: giveUp }

function giveUp(fault: ServiceError): never {
  throw fault
}

class ShortReader {
  readonly layers = new LayerCollector(ringBudget(limits.shortRingComparisonCount))
  sourceReferences = NO_REFERENCES
  readonly #geometry: ShortGeometry

  constructor(skeleton: Skeleton) {
    this.#geometry = new ShortGeometry(skeleton, this.layers)
  }

  read(drawing: unknown, path: string): boolean {
    if (!isObject(drawing) || !ofDrawing.find(drawing)) return false
    const { type, shapeMember } = ofDrawing
    if (type === 'FeatureCollection' || shapeMember === 'features') {
      return this.#readFeatures(drawing, path)
    }
    if (type === 'Feature' || shapeMember === 'geometry') {
      return this.#readFeature(drawing, ofDrawing, undefined, path, -1)
    }
    this.layers.features.begin(-1, path)
    this.#geometry.begin(NO_PROPERTIES)
    return this.#readGeometry(drawing, ofDrawing, undefined) && this.#geometry.isWhole()
  }

  #readFeatures(collection: JsonObject, path: string): boolean {
    const { type, shapeMember, shape: features, spatialReference } = ofDrawing
    if (!isType(type, 'FeatureCollection') || shapeMember !== 'features') return false
    if (!isUsual(ofDrawing, collection) || !isWithoutProperties(ofDrawing.properties)) return false
    if (!Array.isArray(features) || features.length > limits.featureCount) return false
    if (hasFurtherPages(collection)) return false
    const reference = readSpatialReference(spatialReference, '')
    for (let i = 0; i < features.length; i++) {
      const feature: unknown = features[i]
      if (!isObject(feature) || !ofFeature.find(feature)) return false
      if (!this.#readFeature(feature, ofFeature, reference, path, i)) return false
    }
    return true
  }

  /**
   * @param reference  what the collection says of Esri geometries in it
   * @param path  of the collection, or of the feature if `index` is -1
   */
  #readFeature(
    feature: JsonObject,
    members: ShortMembers,
    reference: SpatialReference | undefined,
    path: string,
    index: number,
  ): boolean {
    const { type, shapeMember, shape: geometry, spatialReference } = members
    this.layers.features.begin(index, path)
    if (!isType(type, 'Feature') || shapeMember !== 'geometry') return false
    if (!isUsual(members, feature)) return false
    const properties = this.#propertiesOf(members.properties, path, index)
    const own = readSpatialReference(spatialReference, '')
    const { nearestCount } = this.layers
    if (geometry === null) {
      // An area of the gazetteer may be named there.
      if (mayNameAreas(members.properties)) return false
    } else {
      this.#geometry.begin(properties)
      if (!isObject(geometry) || !ofGeometry.find(geometry)) return false
      if (!this.#readGeometry(geometry, ofGeometry, own ?? reference)) return false
      if (!this.#geometry.isWhole()) return false
    }
    return properties.nearestCount === undefined || this.layers.nearestCount > nearestCount
  }

  #propertiesOf(value: unknown, path: string, index: number): FeatureProperties {
    if (isObject(value) && !hasProperties(value)) return NO_PROPERTIES
    // The only path that is needed without a fault: a source may turn out to be unknown.
    const at = `${featurePath(path, index)}.properties`
    const properties = readProperties(value, at, GIVE_UP)
    if (properties.sourceReferences.length > 0) {
      this.sourceReferences = [...this.sourceReferences, ...properties.sourceReferences]
    }
    return properties
  }

  #readGeometry(
    geometry: JsonObject,
    members: ShortMembers,
    inherited: SpatialReference | undefined,
  ): boolean {
    if (!isUsual(members, geometry) || !isWithoutProperties(members.properties)) return false
    const { type, shapeMember, shape, spatialReference, isOtherEsri } = members
    if (isOtherEsri) {
      // Without positions. What it has beside its own members is refused.
      readEsriGeometry(geometry, '', inherited, this.#geometry.sink)
      return true
    }
    const reference = readSpatialReference(spatialReference, '') ?? inherited ?? 'degrees'
    if (shapeMember === 'coordinates') {
      return reference === 'degrees' && this.#geometry.readCoordinates(type, shape)
    }
    if (shapeMember === 'geometries') {
      if (reference !== 'degrees' || type !== 'GeometryCollection') return false
      return this.#readGeometries(shape, inherited)
    }
    if (shapeMember !== 'rings' && shapeMember !== 'paths' && shapeMember !== 'points') return false
    return this.#geometry.readEsri(shapeMember, type, shape, reference)
  }

  #readGeometries(geometries: unknown, inherited: SpatialReference | undefined): boolean {
    if (!Array.isArray(geometries)) return false
    // Collections hold others, of which each is read while those around it still are.
    const members = new ShortMembers()
    for (const geometry of geometries) {
      if (!isObject(geometry) || !members.find(geometry)) return false
      if (!this.#readGeometry(geometry, members, inherited)) return false
    }
    return true
  }
}

function isType(type: unknown, expected: string): boolean {
  return type === expected || type === undefined || type === null
}

/** What all three kinds of objects have in common. */
function isUsual({ crs, attributes }: ShortMembers, object: JsonObject): boolean {
  if (crs !== undefined) refuseForeignCrs(object, '')
  return isWithoutProperties(attributes)
}

function isWithoutProperties(object: unknown): boolean {
  return !isObject(object) || !hasProperties(object)
}
