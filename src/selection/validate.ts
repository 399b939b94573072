/**
 * Second stage: makes a query from a JSON object. Every later stage may trust the query.
 *
 * @module
 */

import { ServiceError } from '../errors.js'
import type { Shapes, SourceFilter } from '../geometry/shapes.js'
import { lowerCase } from '../interface/letter-case.js'
import { flagOf, nameOf, numberOf } from '../interface/quoted.js'
import { RecipientRequestSchema } from '../interface/recipients.js'
import { limits } from '../limits.js'
import type { CountMode } from '../shard/select.js'
import { type JsonObject, kindOf } from './parse.js'
import { readAnyDrawing } from './shapes/any-drawing.js'
import { ESRI_MEMBERS } from './shapes/esri.js'
import { PROPERTY_NAMES } from './shapes/feature-properties.js'
import { readSourceIds, type SourceReference } from './source-ids.js'

declare const valid: unique symbol

export interface Query {
  readonly [valid]: true
  readonly countsOnly: boolean
  /** Undefined where the request leaves it to the configuration. */
  readonly countMode: CountMode | undefined
  /** Whether each phone is given once, over all sources that are answered for. */
  readonly isDistinct: boolean
  /** Undefined where the request leaves it to the service. */
  readonly clipToBoundary: boolean | undefined
  /** The sources that are answered for. */
  readonly sourceIds: SourceFilter
  /** Every source id that was named; whether the snapshot has it is for a later stage to say. */
  readonly sourceReferences: readonly SourceReference[]
  /** No shape at all selects nobody. */
  readonly shapes: Shapes
  /** Recipients of a list, at most. */
  readonly limit: number | undefined
  /** A cursor, as it was sent. */
  readonly after: string | undefined
}

/**
 * @throws ServiceError  naming the member at fault
 */
export function validate(request: JsonObject): Query {
  const given = givenMembers(request)
  const { shapes, sourceReferences } = readAnyDrawing(single(given.geoJSON), 'geoJSON')
  const filter = readSourceIds(single(given.sources), 'sources')
  const query: Omit<Query, typeof valid> = {
    countsOnly: readBoolean(single(given.countsOnly), 'countsOnly'),
    countMode: readCountMode(single(given.contactCountMode)),
    isDistinct: readBoolean(single(given.distinct), 'distinct'),
    clipToBoundary: readBooleanIfGiven(single(given.clipToBoundary), 'clipToBoundary'),
    sourceIds: filter.sourceIds,
    sourceReferences: joined(filter.sourceReferences, sourceReferences),
    shapes,
    limit: readLimit(single(given.limit)),
    after: readAfter(single(given.after)),
  }
  return query as Query
}

type MemberName = keyof typeof RecipientRequestSchema.properties
type GivenMembers = { [name in MemberName]: unknown }

/** Finds the members in one pass, by their names as they are declared or in any letter case. */
function givenMembers(request: JsonObject): GivenMembers {
  const given: GivenMembers = { ...NOTHING_GIVEN }
  for (const name in request) {
    const known = KNOWN.get(name) ?? KNOWN.get(lowerCase(name))
    if (known === undefined) continue
    const value = request[name]
    if (known === 'unsupported' || known === 'misplaced') {
      if (value !== null) refuse(name, known)
    } else if (given[known] === NOT_GIVEN) given[known] = value
    else if (!(given[known] instanceof Twice)) given[known] = new Twice(request, known, name)
  }
  return given
}

function single(value: unknown): unknown {
  if (value === NOT_GIVEN) return undefined
  return value instanceof Twice ? value.refuse() : value
}

/** A member that is given twice: to choose one would drop another. Refused when it is asked for. */
class Twice {
  readonly #first: string
  readonly #second: string

  constructor(request: JsonObject, known: MemberName, second: string) {
    this.#first = Object.keys(request).find((name) => KNOWN.get(lowerCase(name)) === known) ?? ''
    this.#second = second
  }

  refuse(): never {
    const problem = `${this.#first} is given twice, also as ${this.#second}`
    throw new ServiceError('InvalidRequest', problem, this.#second)
  }
}

function refuse(name: string, kind: 'unsupported' | 'misplaced'): never {
  const problem =
    kind === 'unsupported' ? 'is not a member of this request' : 'belongs into the member geoJSON'
  throw new ServiceError('InvalidRequest', `${name} ${problem}`, name)
}

const NOT_GIVEN = Symbol('not given')
const MEMBERS = Object.keys(RecipientRequestSchema.properties) as MemberName[]
const NOTHING_GIVEN = Object.fromEntries(MEMBERS.map((name) => [name, NOT_GIVEN])) as GivenMembers

/** Members that look as if they changed a selection: to ignore one would warn the wrong people. */
const UNSUPPORTED = ['source', 'sourceid', 'sourceids', 'crs', 'spatialreference']

/** Members of shapes: to ignore one would drop what a client that left out `geoJSON` means. */
const MISPLACED = [
  'type',
  'features',
  'shapes',
  'geometry',
  'geometries',
  'coordinates',
  'properties',
  ...PROPERTY_NAMES.filter((name) => name !== 'sources'),
  ...ESRI_MEMBERS,
]

/** As they are declared, and all in lower case. */
const KNOWN: ReadonlyMap<string, MemberName | 'unsupported' | 'misplaced'> = new Map([
  ...MISPLACED.map((name) => [name, 'misplaced'] as const),
  ...UNSUPPORTED.map((name) => [name, 'unsupported'] as const),
  ...MEMBERS.map((name) => [lowerCase(name), name] as const),
  ...MEMBERS.map((name) => [name, name] as const),
])

function joined<Item>(first: readonly Item[], second: readonly Item[]): readonly Item[] {
  if (first.length === 0) return second
  return second.length === 0 ? first : [...first, ...second]
}

/** Absent and null are false. */
function readBoolean(value: unknown, field: string): boolean {
  return readBooleanIfGiven(value, field) ?? false
}

/** `"true"`, `"false"`, 1 and 0 are taken as some clients write them. */
function readBooleanIfGiven(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  const flag = flagOf(value)
  if (flag !== undefined) return flag
  throw new ServiceError(
    'InvalidRequest',
    `${field} must be true or false, not ${kindOf(value)}`,
    field,
  )
}

function readCountMode(value: unknown): CountMode | undefined {
  if (value === undefined || value === null) return undefined
  const mode = nameOf(COUNT_MODES, value)
  if (mode !== undefined) return mode
  const field = 'contactCountMode'
  throw new ServiceError('InvalidRequest', `${field} must be ContactLocation or Contact`, field)
}

const COUNT_MODES: readonly CountMode[] = ['ContactLocation', 'Contact']

function readLimit(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const limit = numberOf(value)
  const most = limits.pageRecipientCount
  if (limit !== undefined && Number.isInteger(limit) && limit >= 1 && limit <= most) return limit
  const problem = `limit must be a whole number from 1 to ${most.toLocaleString('en-US')}`
  throw new ServiceError('InvalidRequest', problem, 'limit')
}

/** Whose cursor it is, and how far it goes, is for a later stage to say. */
function readAfter(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw new ServiceError('InvalidRequest', `after must be a text, not ${kindOf(value)}`, 'after')
}
