/**
 * Names in a drawing that are not known, and that look as if they were to change whom it selects: they are
 * nearly a name that does, or are in the wrong place. GeoJSON leaves all other names to its clients
 * (RFC 7946, 6.1), and so do we.
 *
 * @module
 */
import type { ServiceError } from '../../errors.js'
import { lowerCase } from '../../interface/letter-case.js'
import { nearestName } from '../../interface/near-miss.js'
import { flagOf, numberOf } from '../../interface/quoted.js'
import { unknownName } from '../../interface/unknown-members.js'
import { limits } from '../../limits.js'
import type { JsonObject } from '../parse.js'
import { PROPERTY_NAMES } from './property-names.js'

/** Takes what is wrong with names. */
export interface StrangeNames {
  /** Of a member that was almost certainly meant to change whom the drawing selects. */
  unknown(fault: ServiceError): void
  /** Of a member that may as well be the client's own. */
  doubtful(fault: ServiceError): void
}

/** What a name is like. */
type Likeness =
  /** A property of a feature, which means something if its value does. */
  | { readonly kind: 'property'; readonly name: string }
  /** A member of the request. */
  | { readonly kind: 'request'; readonly name: string }
  /** A member of this object, which means something if the object has no such member. */
  | { readonly kind: 'member'; readonly name: (typeof OBJECT_MEMBERS)[number] }

/** What a name of a collection, a feature or a geometry is like, that is not known; mostly nothing. */
export function likenessOfMember(name: string): Likeness | undefined {
  return remembered(MEMBER_LIKENESSES, name, (plain) => {
    const near = nearestName(plain, OBJECT_MEMBERS)
    const member = OBJECT_MEMBERS.find((each) => each === near)
    return member === undefined ? likenessInProperties(plain) : { kind: 'member', name: member }
  })
}

/** What a name in `properties` is like, that is not known; mostly nothing. */
export function likenessOfProperty(name: string): Likeness | undefined {
  return remembered(PROPERTY_LIKENESSES, name, likenessInProperties)
}

/**
 * Tells of the members of a collection, a feature or a geometry that look as if they meant something.
 *
 * @param own  what such an object may have of `OBJECT_MEMBERS`
 */
export function tellStrangeMembers(
  object: JsonObject,
  path: string,
  own: readonly string[],
  strange: StrangeNames,
): void {
  for (const name in object) {
    const likeness = likenessOfMember(name)
    if (likeness === undefined || isEmpty(object[name])) continue
    if (likeness.kind === 'member') {
      if (name === likeness.name || !own.includes(likeness.name)) continue
      if (lowerCase(name) === lowerCase(likeness.name) || has(object, likeness.name)) continue
      strange.unknown(unknownName(path, name, `do you mean ${likeness.name}?`))
    } else if (likeness.kind === 'request') tellMisplaced(path, name, likeness.name, strange)
    else if (!PROPERTY_NAMES.includes(lowerCase(name)) && mayMean(likeness.name, object[name])) {
      const advice = `do you mean ${likeness.name}, in the properties of a feature?`
      strange.unknown(unknownName(path, name, advice))
    }
  }
}

/** Tells of properties that look as if they changed whom their feature selects. */
export function tellStrangeProperties(
  properties: JsonObject,
  path: string,
  strange: StrangeNames,
): void {
  for (const name in properties) {
    const likeness = likenessOfProperty(name)
    if (likeness === undefined || PROPERTY_NAMES.includes(lowerCase(name))) continue
    const value = properties[name]
    if (isEmpty(value) || INCLUDING.has(lowerCase(name))) continue
    if (likeness.kind === 'request') tellMisplaced(path, name, likeness.name, strange)
    else if (
      likeness.name === 'units' ? isWithDistance(properties) : mayMean(likeness.name, value)
    ) {
      if (lowerCase(name) === likeness.name) continue
      strange.unknown(unknownName(path, name, `do you mean ${likeness.name}?`))
    }
  }
}

function tellMisplaced(path: string, name: string, meant: string, strange: StrangeNames): void {
  const fault = unknownName(path, name, `${meant} belongs into the request, beside geoJSON`)
  if (EVERYDAY_NAMES.includes(meant)) strange.doubtful(fault)
  else strange.unknown(fault)
}

/** Members that an object of a drawing may lack without a fault, so that one that is misspelt would be lost. */
const OBJECT_MEMBERS = ['type', 'properties', 'spatialReference'] as const

export const MEMBERS_OF = {
  collection: ['type', 'spatialReference'],
  feature: ['type', 'properties', 'spatialReference'],
  geometry: ['type', 'spatialReference'],
} as const

/** Members of a request that are like no property that a client may have of its own. */
const REQUEST_NAMES = ['countsOnly', 'contactCountMode', 'clipToBoundary'] as const
/** Words of everyday: only as they are, and a client may have them as well. */
const EVERYDAY_NAMES: readonly string[] = ['distinct', 'limit', 'after']

const NAMES = [...PROPERTY_NAMES, 'units']

function likenessInProperties(name: string): Likeness | undefined {
  const request =
    nearestName(name, REQUEST_NAMES) ??
    EVERYDAY_NAMES.find((each) => lowerCase(each) === lowerCase(name))
  if (request !== undefined) return { kind: 'request', name: request }
  const whole = nearestName(name, NAMES)
  if (whole !== undefined) return { kind: 'property', name: whole }
  const ofWord = wordsOf(name)
    .map((word) => WORDS.get(word))
    .find((known) => known !== undefined)
  return ofWord === undefined ? undefined : { kind: 'property', name: ofWord }
}

/** `radiusInMeters`, `radius_km` and `is-excluded` have several words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['exclude', 'exclude'],
  ['excludes', 'exclude'],
  ['excluded', 'exclude'],
  ['excluding', 'exclude'],
  ['exclusion', 'exclude'],
  ['radius', 'radius'],
  ['buffer', 'buffer'],
  ['buffers', 'buffer'],
  ['buffered', 'buffer'],
  ['nearest', 'nearest'],
  ['source', 'sources'],
  ['sources', 'sources'],
])

/** Nearly `exclude`, and the opposite. */
const INCLUDING: ReadonlySet<string> = new Set(['include', 'included', 'includes'])

/** Whether a value is one that the property could have; others are of a client's own property. */
function mayMean(name: string, value: unknown): boolean {
  switch (name) {
    case 'exclude':
      return typeof value !== 'object'
    case 'sources':
      return Array.isArray(value) || numberOf(value) !== undefined
    case 'units':
      return false
    default:
      // As it is written with a unit, too.
      return numberOf(value) !== undefined || (typeof value === 'string' && /^\s*\d/.test(value))
  }
}

function isWithDistance(properties: JsonObject): boolean {
  return has(properties, 'radius') || has(properties, 'buffer')
}

function has(object: JsonObject, name: string): boolean {
  const lower = lowerCase(name)
  for (const each in object) if (lowerCase(each) === lower && object[each] !== null) return true
  return false
}

/** False, too: a property that is not set changes nothing. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === false || flagOf(value) === false
}

/** Names are few and come again and again; to compare one takes as long as to read a small drawing. */
function remembered(
  known: Map<string, Likeness | undefined>,
  name: string,
  look: (name: string) => Likeness | undefined,
): Likeness | undefined {
  if (name.length > limits.memberNameCharCount) return undefined
  const likeness = known.get(name)
  if (likeness !== undefined || known.has(name)) return likeness
  if (known.size === limits.knownNameCount) known.clear()
  const found = look(name)
  known.set(name, found)
  return found
}

const MEMBER_LIKENESSES = new Map<string, Likeness | undefined>()
const PROPERTY_LIKENESSES = new Map<string, Likeness | undefined>()
