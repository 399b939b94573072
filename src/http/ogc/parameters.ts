/**
 * The query of a request for features (OGC 17-069r4, 7.15). What is not known there is refused, and what is not valid.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Box } from '../../operations/features/source.js'

interface ItemsQuery {
  readonly box: Box | undefined
  readonly limit: number
  readonly offset: number
}

/** @throws ServiceError  InvalidRequest, naming the parameter */
export function readItemsQuery(query: URLSearchParams): ItemsQuery {
  refuseUnknown(query, ['bbox', 'limit', 'offset', 'datetime'])
  const bbox = query.get('bbox')
  const datetime = query.get('datetime')
  // Areas have no time, so each of them is there at any.
  if (datetime !== null && !isDatetime(datetime)) throw invalid('datetime', NO_DATETIME)
  return {
    box: bbox === null ? undefined : readBox(bbox),
    limit: readLimit(query.get('limit')),
    offset: readOffset(query),
  }
}

/** Where a page begins, of those that come one after the other. */
export function readOffset(query: URLSearchParams): number {
  const offset = wholeNumber(query.get('offset') ?? '0')
  if (offset === undefined) throw invalid('offset', 'must be a whole number, 0 or more')
  return offset
}

/** @throws ServiceError  InvalidRequest, for another one or for one that is there twice */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of query.keys()) {
    // Nothing that a client made up is repeated.
    if (!known.includes(name)) {
      const names = known.length === 0 ? 'none' : known.join(', ')
      throw new ServiceError(
        'InvalidRequest',
        `the query has a parameter that is not known here: known is ${names}`,
      )
    }
    if (seen.has(name)) throw invalid(name, 'is given twice')
    seen.add(name)
  }
}

/** More than the most is taken as the most (17-069r4, /req/core/fc-limit-response-1). */
function readLimit(text: string | null): number {
  if (text === null) return limits.featurePageDefaultCount
  const limit = wholeNumber(text)
  if (limit === undefined || limit < 1) throw invalid('limit', 'must be a whole number, 1 or more')
  return Math.min(limit, limits.featurePageCount)
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function readBox(text: string): Box {
  const parts = text.split(',')
  const numbers = parts.map((part) => (NUMBER.test(part) ? Number(part) : Number.NaN))
  if (
    (parts.length !== 4 && parts.length !== 6) ||
    numbers.some((each) => !Number.isFinite(each))
  ) {
    throw invalid(
      'bbox',
      'must be four numbers, west,south,east,north, or six with heights between',
    )
  }
  const [west, south] = numbers
  // Areas have no height: they are at any.
  const [east, north] = numbers.slice(parts.length / 2)
  if (parts.length === 6 && numbers[2] > numbers[5]) {
    throw invalid('bbox', 'must have the lower height first')
  }
  if (Math.max(Math.abs(west), Math.abs(east)) > 180) {
    throw invalid('bbox', 'must have longitudes from -180 to 180')
  }
  if (Math.max(Math.abs(south), Math.abs(north)) > 90) {
    throw invalid(
      'bbox',
      'must have latitudes from -90 to 90: positions are longitude, then latitude',
    )
  }
  if (south > north) throw invalid('bbox', 'must have the southern latitude first')
  return [west, south, east, north]
}

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*$/i

/** A date or a time of RFC 3339, or an interval of two, one of which may be open. */
function isDatetime(text: string): boolean {
  const ends = text.split('/')
  if (ends.length === 1) return isTime(text)
  if (ends.length !== 2) return false
  const closed = ends.filter((end) => end !== '' && end !== '..')
  if (closed.length === 0 || !closed.every(isTime)) return false
  return closed.length === 1 || Date.parse(closed[0]) <= Date.parse(closed[1])
}

function isTime(text: string): boolean {
  const [, day] = TIME.exec(text) ?? []
  if (day === undefined) return false
  // What is no day of the calendar is another one when it is read.
  return Number.isFinite(Date.parse(text)) && new Date(day).toISOString().startsWith(day)
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))?$/

const NO_DATETIME =
  'must be a time as 2026-01-31T08:15:00Z, or an interval of two, as 2026-01-01T00:00:00Z/..'

function invalid(name: string, problem: string): ServiceError {
  return new ServiceError('InvalidRequest', `${name} ${problem}`, name)
}
