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
import { isObject, type JsonObject } from '../parse.js'
import { isMetres, PROPERTY_NAMES } from './property-names.js'

/** Takes what is wrong with names. */
export interface StrangeNames {
  /** Of a member that was almost certainly meant to change whom the drawing selects. */
  unknown(fault: ServiceError): void
  /** Of a member that may as well be the client's own. */
  doubtful(fault: ServiceError): void
}

/** What a name is like. */
type Likeness =
  /** One of these properties of a feature, which means something if its value does. */
  | { readonly kind: 'property'; readonly names: readonly string[] }
  /** The unit of a radius or buffer, if there is one. */
  | { readonly kind: 'units'; readonly isNearly: boolean }
  /** Nearly `exclude`, and the opposite. */
  | { readonly kind: 'including' }
  /** The properties once more, one level too deep. */
  | { readonly kind: 'properties' }
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
  let present: ReadonlySet<string> | undefined
  for (const name in object) {
    const likeness = likenessOfMember(name)
    if (likeness === undefined || isEmpty(object[name])) continue
    if (likeness.kind === 'member') {
      if (name === likeness.name || !own.includes(likeness.name)) continue
      // Once for the object: as many names as a body may have can be nearly the same member.
      present ??= presentNames(object)
      if (present.has(lowerCase(likeness.name))) continue
      strange.unknown(unknownName(path, name, `do you mean ${likeness.name}?`))
    } else if (likeness.kind === 'request') tellMisplaced(path, name, likeness.name, strange)
    else if (!PROPERTY_NAMES.includes(lowerCase(name))) {
      const fault = misplacedProperty(path, name, object[name], likeness)
      if (fault !== undefined) strange.unknown(fault)
    }
  }
}

/** Tells of properties that look as if they changed whom their feature selects. */
export function tellStrangeProperties(
  properties: JsonObject,
  path: string,
  strange: StrangeNames,
): void {
  let present: ReadonlySet<string> | undefined
  for (const name in properties) {
    const likeness = likenessOfProperty(name)
    const lower = lowerCase(name)
    if (likeness === undefined || PROPERTY_NAMES.includes(lower)) continue
    const value = properties[name]
    if (likeness.kind === 'including') {
      if (flagOf(value) !== false) continue
      strange.doubtful(
        unknownName(path, name, 'to exclude what a feature has, write exclude: true'),
      )
    } else if (isEmpty(value)) continue
    else if (likeness.kind === 'request') tellMisplaced(path, name, likeness.name, strange)
    else if (likeness.kind === 'properties')
      tellLost(value, `${path}.${name}`, (fault) => strange.unknown(fault))
    else if (likeness.kind === 'units') {
      present ??= presentNames(properties)
      if (lower === 'units' || !(present.has('radius') || present.has('buffer'))) continue
      if (!likeness.isNearly && isMetres(value)) continue
      strange.unknown(unknownName(path, name, 'do you mean units?'))
    } else {
      const meant = meantBy(likeness, value)
      if (meant === undefined) continue
      const fault = unknownName(path, name, `do you mean ${meant}?`)
      if (DRAWN_CIRCLES.has(lower)) strange.doubtful(fault)
      else strange.unknown(fault)
    }
  }
}

/** Tells of the properties, known and nearly known, of an object where none has an effect. */
export function tellLost(value: unknown, path: string, tell: (fault: ServiceError) => void): void {
  if (!isObject(value)) return
  for (const name in value) {
    const likeness = likenessOfProperty(name)
    if (likeness === undefined || isEmpty(value[name])) continue
    const fault = misplacedProperty(path, name, value[name], likeness)
    if (fault !== undefined) tell(fault)
  }
}

function misplacedProperty(
  path: string,
  name: string,
  value: unknown,
  likeness: Likeness,
): ServiceError | undefined {
  const meant = meantBy(likeness, value)
  if (meant === undefined) return undefined
  return unknownName(path, name, `do you mean ${meant}, in the properties of a feature?`)
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
const REQUEST_NAMES = ['countsOnly', 'contactCountMode', 'clipToBoundary', 'minSequence'] as const
/** Words of everyday: only as they are, and a client may have them as well. */
const EVERYDAY_NAMES: readonly string[] = ['distinct', 'limit', 'after', 'partial']

const NAMES = [...PROPERTY_NAMES, 'units']

function likenessInProperties(name: string): Likeness | undefined {
  const lower = lowerCase(name)
  if (lower === 'properties') return { kind: 'properties' }
  if (lower === 'include' || lower === 'included' || lower === 'includes') {
    return { kind: 'including' }
  }
  const request =
    nearestName(name, REQUEST_NAMES) ?? EVERYDAY_NAMES.find((each) => lowerCase(each) === lower)
  if (request !== undefined) return { kind: 'request', name: request }
  const whole = nearestName(name, NAMES)
  if (whole === 'units') return { kind: 'units', isNearly: true }
  if (whole !== undefined) return { kind: 'property', names: [whole] }
  return MAY_HAVE_WORD.test(name) ? likenessOfWords(wordsOf(name)) : undefined
}

function likenessOfWords(words: readonly string[]): Likeness | undefined {
  if (words.some((word) => word === 'unit' || word === 'units')) {
    return { kind: 'units', isNearly: false }
  }
  const names = words.flatMap((word) => WORDS.get(word) ?? [])
  // Many a client says where a feature is from: source_date, source_scale.
  if (words.some(isSource) && words.every((word) => isSource(word) || OF_SOURCES.has(word))) {
    names.push('sources')
  }
  return names.length === 0 ? undefined : { kind: 'property', names }
}

function isSource(word: string): boolean {
  return word === 'source' || word === 'sources'
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
])

/** What `sources` may be combined with and still mean ids of sources. */
const OF_SOURCES: ReadonlySet<string> = new Set([
  ...['', 'id', 'ids', 'number', 'numbers', 'no', 'list', 'filter', 'only', 'for', 'in', 'of'],
  ...[...WORDS].filter(([, name]) => name === 'exclude').map(([word]) => word),
])

/** To split a name into words takes longer than to see that it has none of these. */
const MAY_HAVE_WORD = /exclu|radius|buffer|nearest|source|unit/i

/** What Terra Draw and Mapbox GL Draw write beside a circle that is a polygon already, in lower case. */
const DRAWN_CIRCLES: ReadonlySet<string> = new Set(['radiuskilometers', 'radiusinkm'])

/** The property that a name and its value mean, if any. */
function meantBy(likeness: Likeness, value: unknown): string | undefined {
  if (likeness.kind !== 'property') return undefined
  return likeness.names.find((name) => mayMean(name, value))
}

/** Whether a value is one that the property could have; others are of a client's own property. */
function mayMean(name: string, value: unknown): boolean {
  switch (name) {
    case 'exclude':
      return typeof value !== 'object'
    case 'sources':
      return Array.isArray(value) || numberOf(value) !== undefined
    default:
      // As it is written with a unit, too.
      return numberOf(value) !== undefined || (typeof value === 'string' && /^\s*\d/.test(value))
  }
}

/** In lower case. */
function presentNames(object: JsonObject): ReadonlySet<string> {
  const present = new Set<string>()
  for (const name in object) if (object[name] !== null) present.add(lowerCase(name))
  return present
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
