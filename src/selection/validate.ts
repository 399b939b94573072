/**
 * Second stage: a JSON object becomes a query that every later stage may trust.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Shapes } from '../geometry/polygons.js'
import { type JsonObject, kindOf, member } from './parse.js'
import { readShapes } from './shapes.js'

declare const valid: unique symbol

export interface Query {
  readonly [valid]: true
  readonly countsOnly: boolean
  /** Nothing included selects nobody, whatever is excluded. */
  readonly shapes: Shapes
}

/**
 * @throws ServiceError  InvalidRequest, InvalidGeoJson or UnsupportedGeometry, naming the member
 */
export function validate(request: JsonObject): Query {
  refuseUnsupported(request)
  return {
    countsOnly: readBoolean(member(request, 'countsonly'), 'countsOnly'),
    shapes: readShapes(member(request, 'geojson'), 'geoJSON'),
  } as Query
}

/** Members that would narrow a selection: to ignore one would warn the wrong people. */
const UNSUPPORTED = ['sources', 'distinct', 'contactcountmode', 'limit', 'after']

/** Members of GeoJSON: to ignore one would drop the shape of a client that left out `geoJSON`. */
const MISPLACED = ['type', 'features', 'shapes', 'geometry', 'geometries', 'coordinates']

function refuseUnsupported(request: JsonObject): void {
  for (const name of Object.keys(request)) {
    if (request[name] === null) continue
    if (UNSUPPORTED.includes(name.toLowerCase())) {
      throw new ServiceError('InvalidRequest', `${name} is not supported by this version`, name)
    }
    if (MISPLACED.includes(name.toLowerCase())) {
      throw new ServiceError('InvalidRequest', `${name} belongs into the member geoJSON`, name)
    }
  }
}

/** Absent and null are false; `"true"`, `"false"`, 1 and 0 are taken as some clients write them. */
function readBoolean(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).toLowerCase()
    if (text === 'true' || text === '1') return true
    if (text === 'false' || text === '0') return false
  }
  throw new ServiceError(
    'InvalidRequest',
    `${field} must be true or false, not ${kindOf(value)}`,
    field,
  )
}
