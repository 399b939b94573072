/**
 * The members of a recipient request, found by their names.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { givenTwice, lowerCase } from '../interface/letter-case.js'
import { notationMembers } from '../interface/notations.js'
import { flagOf } from '../interface/quoted.js'
import { RecipientRequestSchema } from '../interface/recipients.js'
import { isReserved } from '../interface/reserved-members.js'
import { unknownMember, unknownName } from '../interface/unknown-members.js'
import { type JsonObject, member } from './parse.js'
import { ESRI_MEMBERS } from './shapes/esri.js'
import { PROPERTY_NAMES } from './shapes/property-names.js'

type MemberName = keyof typeof RecipientRequestSchema.properties
/** Each member, or a mark that it is not there: to be asked for by `single`. */
export type GivenMembers = { [name in MemberName]: unknown } & {
  /** Whether any member is there that draws in another notation than GeoJSON, or says what of an alert counts. */
  drawsOtherwise: boolean
}

/**
 * Finds the members in one pass, by their names as they are declared or in any letter case. Each is to be
 * asked for by `single`.
 *
 * @param strange  is told of all others that are not null
 * @param memberNames  that a client is told of as known
 */
export function givenMembers(
  request: JsonObject,
  strange: { unknown(fault: ServiceError): void },
  memberNames: readonly string[] = MEMBERS,
): GivenMembers {
  const given: GivenMembers = { ...NOTHING_GIVEN }
  for (const name in request) {
    const known = KNOWN.get(name) ?? KNOWN.get(lowerCase(name))
    const value = request[name]
    const isSet = value !== null && value !== undefined
    if (known === undefined) {
      if (!isSet || isReserved(name)) continue
      strange.unknown(unknown(name, memberNames))
    } else if (given[known] === NOT_GIVEN) given[known] = value
    else if (!(given[known] instanceof Twice)) given[known] = new Twice(request, known, name)
    if (isSet && known !== undefined && DRAWING_OTHERWISE.has(known)) given.drawsOtherwise = true
  }
  return given
}

/** @throws ServiceError  for a member that is given twice */
export function single(value: unknown): unknown {
  if (value === NOT_GIVEN) return undefined
  return value instanceof Twice ? value.refuse() : value
}

/**
 * Refuses members of a recipient request that would say less than all who are selected.
 *
 * @param problem  why they cannot be taken
 * @throws ServiceError  InvalidRequest, for one that is neither null nor false
 */
export function refuseOthers(
  request: JsonObject,
  names: readonly MemberName[],
  problem: string,
): void {
  for (const name of names) {
    const value = member(request, lowerCase(name))
    if (value === undefined || value === null || flagOf(value) === false) continue
    throw new ServiceError('InvalidRequest', `${problem}: leave out ${name}`, name)
  }
}

/** A member that is given twice. Refused when it is asked for. */
class Twice {
  readonly #first: string
  readonly #second: string

  constructor(request: JsonObject, known: MemberName, second: string) {
    this.#first = Object.keys(request).find((name) => KNOWN.get(lowerCase(name)) === known) ?? ''
    this.#second = second
  }

  refuse(): never {
    throw givenTwice(this.#first, this.#second)
  }
}

const NOT_GIVEN = Symbol('not given')
const MEMBERS = Object.keys(RecipientRequestSchema.properties) as MemberName[]
const DRAWING_OTHERWISE: ReadonlySet<string> = new Set(Object.keys(notationMembers))
const NOTHING_GIVEN = {
  ...Object.fromEntries(MEMBERS.map((name) => [name, NOT_GIVEN])),
  drawsOtherwise: false,
} as GivenMembers

/** As they are declared, and all in lower case. */
const KNOWN: ReadonlyMap<string, MemberName> = new Map([
  ...MEMBERS.map((name) => [lowerCase(name), name] as const),
  ...MEMBERS.map((name) => [name, name] as const),
])

/** To ignore one of these would answer another question than the one that was meant. */
function unknown(name: string, memberNames: readonly string[]): ServiceError {
  const lower = lowerCase(name)
  if (IN_SHAPES.has(lower)) return unknownName('', name, 'it belongs into the member geoJSON')
  if (SHAPES.has(lower)) {
    const advice = 'shapes are in geoJSON, or in wkt, bbox and others; areas names areas'
    return unknownName('', name, advice)
  }
  const advice = ADVICE.get(lower.replace(/[_-]/g, ''))
  if (advice !== undefined) return unknownName('', name, advice)
  return unknownMember('', name, memberNames)
}

/** Members of shapes, in lower case. */
const IN_SHAPES: ReadonlySet<string> = new Set([
  'type',
  'features',
  'shapes',
  'geometry',
  'geometries',
  'coordinates',
  'properties',
  'crs',
  'spatialreference',
  ...PROPERTY_NAMES.filter((name) => name !== 'sources'),
  ...ESRI_MEMBERS,
])

/** What other services call a shape. */
const SHAPES: ReadonlySet<string> = new Set([
  'box',
  'bounds',
  'extent',
  'envelope',
  'circle',
  'point',
  'polygon',
  'polygons',
  'multipolygon',
  'linestring',
  'shape',
  'area',
])

/** Names that other services have, in lower case and without hyphens. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'do you mean sources, a list of ids?': ['source', 'sourceid', 'sourceids'],
    'do you mean countsOnly?': ['count', 'counts'],
    'a file is in the field of what it holds: cap=@alert.xml, kml=@…, gpx=@… or geoJSON=@…': [
      'file',
      'files',
      'upload',
      'attachment',
      'alert',
      'xml',
    ],
    'a place is a Point in geoJSON; a radius in metres is in the properties of its Feature': [
      'lat',
      'lng',
      'lon',
      'long',
      'latitude',
      'longitude',
      'center',
      'centre',
      'position',
      'location',
    ],
    'areas names areas, such as counties:48201': [
      'county',
      'counties',
      'fips',
      'state',
      'zip',
      'zipcode',
      'zipcodes',
      'zcta',
      'place',
      'city',
    ],
    'a list is read in pages with limit and after': [
      'page',
      'pagesize',
      'perpage',
      'size',
      'offset',
      'skip',
      'take',
      'cursor',
    ],
    'the members of a request are not inside another one': [
      'recipientrequest',
      'request',
      'data',
      'body',
      'payload',
      'params',
      'input',
    ],
  }).flatMap(([advice, names]) => names.map((name) => [name, advice] as const)),
)
