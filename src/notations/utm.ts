/**
 * Places in UTM: a zone, a band or a hemisphere, easting and northing in metres on WGS 84.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { decimalOf } from './decimal.js'
import type { DrawnGeometry, Position } from './drawn.js'
import {
  bandBounds,
  FALSE_NORTHING_METRES,
  NORTHERN_END,
  SOUTHERN_END,
  unprojector,
  ZONE_COUNT,
} from './grid-zones.js'
import { type ListedText, textsOf } from './text-list.js'

/**
 * @param value  a text such as "15 R 270000 3290000" or "15 north 270000 3290000", or an array of them. A
 * letter is a band. N is north of the equator whichever it stands for; a lone S is refused, since it
 * would be band S or the southern hemisphere
 * @returns a point, or the points of an array
 * @throws ServiceError  InvalidGridReference with the path of the element
 */
export function readUtm(value: unknown, path: string): DrawnGeometry {
  const points = textsOf(value, path, 'InvalidGridReference', WHAT).map(pointOf)
  if (!Array.isArray(value)) return { type: 'Point', coordinates: points[0] }
  return { type: 'MultiPoint', coordinates: points }
}

const WHAT = ['a UTM reference', 'UTM references'] as const

const UTM =
  /^ *(\d{1,2}) *(north|south|[a-z]) +(\d+(?:\.\d*)?)(?: ?m?E)?(?: *, *| +)(\d+(?:\.\d*)?)(?: ?m?N)? *$/i

/** Any zone reaches some way into its neighbours, so there is more room than in MGRS. */
const EASTING_MIN = 100_000
const EASTING_MAX = 900_000

/** Of latitude: a metre more, since coordinates are rounded to metres where a band ends. */
const ROUNDED_DEGREES = 1e-5

function pointOf({ text, path }: ListedText): Position {
  const match = UTM.exec(text)
  if (match === null) {
    fail('must be zone, band or north or south, easting and northing: 15 R 270000 3290000', path)
  }
  const zone = Number(match[1])
  if (zone < 1 || zone > ZONE_COUNT) fail('must have a zone from 1 to 60', path)
  const lats = latsOf(match[2].toUpperCase(), path)
  const easting = decimalOf(match[3]) ?? Number.NaN
  const northing = decimalOf(match[4]) ?? Number.NaN
  if (!(easting >= EASTING_MIN && easting <= EASTING_MAX)) {
    fail('must have an easting from 100000 to 900000 metres, and before its northing', path)
  }
  if (!(northing <= FALSE_NORTHING_METRES)) {
    fail('must have a northing from 0 to 10000000 metres', path)
  }
  const point = unprojector(zone, lats.south < 0)(easting, northing)
  const isWithin =
    point[1] >= lats.south - ROUNDED_DEGREES && point[1] <= lats.north + ROUNDED_DEGREES
  if (!isWithin) fail('has a northing that is not in its band or hemisphere', path)
  return point
}

/** Of a band or a hemisphere, in degrees. */
function latsOf(word: string, path: string): { south: number; north: number } {
  if (word === 'NORTH' || word === 'N') return { south: 0, north: NORTHERN_END }
  if (word === 'SOUTH') return { south: SOUTHERN_END, north: 0 }
  if (word === 'S') {
    fail('has an S, which may be the band S or the south: write north or south instead', path)
  }
  if ('ABYZ'.includes(word)) fail('is in a polar zone (UPS), which is not read', path)
  return bandBounds(word) ?? fail('must have a band from C to X without I and O', path)
}

function fail(problem: string, path: string): never {
  throw new ServiceError('InvalidGridReference', `${path} ${problem}`, path)
}
