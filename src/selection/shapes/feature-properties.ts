/**
 * The properties of a feature that change whom it selects. All others are the client's own.
 *
 * @module
 */

import { FARTHEST_METRES } from '../../geometry/great-circle.js'
import type { SourceFilter } from '../../geometry/shapes.js'
import { lowerCase } from '../../interface/letter-case.js'
import { flagOf, numberOf } from '../../interface/quoted.js'
import { limits } from '../../limits.js'
import { metresOf } from '../../notations/units.js'
import { isObject, type JsonObject, kindOf, member } from '../parse.js'
import { readSourceIds, type SourceReference } from '../source-ids.js'
import { fail } from './positions.js'
import { PROPERTY_NAMES } from './property-names.js'
import {
  likenessOfProperty,
  type StrangeNames,
  tellLost,
  tellStrangeProperties,
} from './strange-names.js'

export interface FeatureProperties {
  readonly isExcluded: boolean
  /** How far beyond its geometry the feature reaches. */
  readonly radiusMetres: number | undefined
  /** How many recipients of a source it picks, the nearest ones. */
  readonly nearestCount: number | undefined
  readonly sourceIds: SourceFilter
  readonly sourceReferences: readonly SourceReference[]
}

export const NO_PROPERTIES: FeatureProperties = {
  isExcluded: false,
  radiusMetres: undefined,
  nearestCount: undefined,
  sourceIds: null,
  sourceReferences: [],
}

/** Whether an object has a member that changes whom a feature selects, or looks as if it did. */
export function hasProperties(object: JsonObject): boolean {
  for (const name in object) if (likenessOfProperty(name) !== undefined) return true
  return false
}

/** @throws ServiceError  that names the property */
export function readProperties(
  value: unknown,
  path: string,
  strange: StrangeNames,
): FeatureProperties {
  if (value === undefined || value === null) return NO_PROPERTIES
  if (!isObject(value)) fail('InvalidGeoJson', `must be an object, not ${kindOf(value)}`, path)
  tellStrangeProperties(value, path, strange)
  const isExcluded = readFlag(value, 'exclude', path)
  const radiusMetres = readRadius(value, path)
  const nearestCount = readNearest(value, path)
  if (radiusMetres !== undefined && nearestCount !== undefined) {
    fail('InvalidNearest', 'cannot have a radius: draw the circle as a feature of its own', path)
  }
  const sources = readSourceIds(member(value, 'sources'), `${path}.sources`)
  return { isExcluded, radiusMetres, nearestCount, ...sources }
}

/**
 * Refuses the properties where they would have no effect: beside `properties`, in `attributes`, or,
 * of what is not a feature, in either. Attributes come from tables of others, so what is nearly a property
 * there is only told of.
 */
export function refuseMisplacedProperties(
  object: JsonObject,
  path: string,
  isFeature: boolean,
  strange: StrangeNames,
): void {
  refuseNames(object, path)
  const attributes = member(object, 'attributes')
  refuseNames(attributes, `${path}.attributes`)
  tellLost(attributes, `${path}.attributes`, (fault) => strange.doubtful(fault))
  if (!isFeature) refuseNames(member(object, 'properties'), `${path}.properties`)
}

function refuseNames(object: unknown, path: string): void {
  if (!isObject(object)) return
  for (const name in object) {
    if (PROPERTY_NAMES.includes(lowerCase(name)) && !isUnset(object[name])) {
      fail('InvalidGeoJson', 'belongs into the properties of a feature', `${path}.${name}`)
    }
  }
}

function readFlag(properties: JsonObject, name: string, path: string): boolean {
  const value = member(properties, name)
  if (isUnset(value)) return false
  const flag = flagOf(value)
  if (flag !== undefined) return flag
  return fail('InvalidGeoJson', `must be true or false, not ${kindOf(value)}`, `${path}.${name}`)
}

function readRadius(properties: JsonObject, path: string): number | undefined {
  const radius = readMetres(properties, 'radius', path)
  const buffer = readMetres(properties, 'buffer', path)
  if (radius !== undefined && buffer !== undefined) {
    fail('InvalidRadius', 'has both radius and buffer', path)
  }
  return radius ?? buffer
}

function readMetres(properties: JsonObject, name: string, path: string): number | undefined {
  const value = member(properties, name)
  if (isUnset(value)) return undefined
  const at = `${path}.${name}`
  const distance = numberOf(value)
  if (distance === undefined || Number.isNaN(distance)) {
    fail('InvalidRadius', `must be a number of metres, or of units, not ${kindOf(value)}`, at)
  }
  const metres = inMetres(distance, member(properties, 'units'), `${path}.units`)
  if (metres <= 0) fail('RadiusNotPositive', 'must be more than 0 metres', at)
  if (metres > FARTHEST_METRES) {
    fail('InvalidRadius', `must be at most ${Math.floor(FARTHEST_METRES)} metres`, at)
  }
  return metres
}

function inMetres(distance: number, units: unknown, path: string): number {
  if (isUnset(units)) return distance
  const metres = typeof units === 'string' ? metresOf(distance, units) : undefined
  return metres ?? fail('InvalidRadius', 'must be m, km, mi, ft or NM, or be left out', path)
}

function readNearest(properties: JsonObject, path: string): number | undefined {
  const value = member(properties, 'nearest')
  if (isUnset(value)) return undefined
  const count = numberOf(value) ?? 0
  if (Number.isInteger(count) && count > 0 && count <= limits.nearestCount) return count
  const problem = `must be a whole number from 1 to ${limits.nearestCount}`
  return fail('InvalidNearest', problem, `${path}.nearest`)
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === false
}
