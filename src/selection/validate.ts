/**
 * Second stage: makes a query from a JSON object. Every later stage may trust the query.
 *
 * @module
 */

import { ServiceError } from '../errors.js'
import type { Shapes, SourceFilter } from '../geometry/shapes.js'
import { lowerCase } from '../interface/letter-case.js'
import { flagOf, nameOf, numberOf } from '../interface/quoted.js'
import { limits } from '../limits.js'
import type { CountMode } from '../shard/select.js'
import { type JsonObject, kindOf, member } from './parse.js'
import { ESRI_MEMBERS } from './shapes/esri.js'
import { PROPERTY_NAMES } from './shapes/feature-properties.js'
import { readDrawing } from './shapes/shapes.js'
import { readSourceIds, type SourceReference } from './source-ids.js'

declare const valid: unique symbol

export interface Query {
  readonly [valid]: true
  readonly countsOnly: boolean
  /** Undefined where the request leaves it to the configuration. */
  readonly countMode: CountMode | undefined
  /** Whether each phone is given once, over all sources that are answered for. */
  readonly isDistinct: boolean
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
  refuseUnsupported(request)
  const { shapes, sourceReferences } = readDrawing(member(request, 'geojson'), 'geoJSON')
  const filter = readSourceIds(member(request, 'sources'), 'sources')
  const query: Omit<Query, typeof valid> = {
    countsOnly: readBoolean(member(request, 'countsonly'), 'countsOnly'),
    countMode: readCountMode(member(request, 'contactcountmode')),
    isDistinct: readBoolean(member(request, 'distinct'), 'distinct'),
    sourceIds: filter.sourceIds,
    sourceReferences: [...filter.sourceReferences, ...sourceReferences],
    shapes,
    limit: readLimit(member(request, 'limit')),
    after: readAfter(member(request, 'after')),
  }
  return query as Query
}

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

function refuseUnsupported(request: JsonObject): void {
  for (const name in request) {
    if (request[name] === null) continue
    if (UNSUPPORTED.includes(lowerCase(name))) {
      throw new ServiceError('InvalidRequest', `${name} is not a member of this request`, name)
    }
    if (MISPLACED.includes(lowerCase(name))) {
      throw new ServiceError('InvalidRequest', `${name} belongs into the member geoJSON`, name)
    }
  }
}

/** Absent and null are false; `"true"`, `"false"`, 1 and 0 are taken as some clients write them. */
export function readBoolean(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false
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
