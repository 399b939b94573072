/**
 * Encoded polylines: differences of whole numbers in printable characters, latitude before longitude.
 * Numbers of precision 7 need more than the 32 bits of published decoders, and these read past a text
 * that was cut off; so this is one of our own.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { decimalOf } from './decimal.js'
import type { DrawnGeometry, Position } from './drawn.js'

/**
 * @param value  a text of precision 5, or {points, precision, polygon}: the text, its decimals (5, 6 or
 * 7), and whether it is the ring of a polygon
 * @returns a line, or a polygon
 * @throws ServiceError  InvalidPolyline, also if the text ends too early or no encoder would write it;
 * LatitudeOutOfRange, TooManyVertices
 */
export function readPolyline(value: unknown, path: string): DrawnGeometry {
  const { points, pointsPath, precision, isPolygon } = partsOf(value, path)
  const positions = decoded(points, precision, pointsPath)
  if (isPolygon) return { type: 'Polygon', coordinates: [positions] }
  return { type: 'LineString', coordinates: positions }
}

interface Parts {
  readonly points: string
  readonly pointsPath: string
  readonly precision: number
  readonly isPolygon: boolean
}

function partsOf(value: unknown, path: string): Parts {
  if (typeof value === 'string') {
    return { points: value, pointsPath: path, precision: PRECISIONS[0], isPolygon: false }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail('must be an encoded polyline in a text, or an object with points', path)
  }
  let points: unknown
  let precision: number | undefined = PRECISIONS[0]
  let isPolygon: unknown = false
  for (const [name, member] of Object.entries(value)) {
    if (name === 'points') points = member
    else if (name === 'precision') precision = decimalOf(member)
    else if (name === 'polygon') isPolygon = member
    else fail('must have no members but points, precision and polygon', path)
  }
  const pointsPath = `${path}.points`
  if (typeof points !== 'string') fail('must be an encoded polyline in a text', pointsPath)
  if (precision === undefined || !PRECISIONS.includes(precision)) {
    fail('must be 5, 6 or 7', `${path}.precision`)
  }
  if (typeof isPolygon !== 'boolean') fail('must be true or false', `${path}.polygon`)
  return { points, pointsPath, precision, isPolygon }
}

const PRECISIONS: readonly number[] = [5, 6, 7]

function decoded(text: string, precision: number, path: string): Position[] {
  const perDegree = 10 ** precision
  const positions: Position[] = []
  const cursor = { text, at: 0 }
  let lat = 0
  let lng = 0
  do {
    if (positions.length === limits.vertexCount) {
      const problem = `has more than ${limits.vertexCount} positions`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
    lat += difference(cursor, path)
    lng += difference(cursor, path)
    if (Math.abs(lat) > 90 * perDegree) {
      const problem =
        'has a latitude beyond 90: its precision is higher, or longitude comes first in it'
      throw new ServiceError('LatitudeOutOfRange', `${path} ${problem}`, path)
    }
    positions.push([lng / perDegree, lat / perDegree])
  } while (cursor.at < text.length)
  return positions
}

/**
 * Groups of five bits from the lowest on, each as a character, and all but the last one with a sixth bit;
 * their last bit is the sign.
 */
function difference(cursor: { readonly text: string; at: number }, path: string): number {
  let sum = 0
  let worth = 1
  for (;;) {
    const group = cursor.text.charCodeAt(cursor.at) - FIRST_CHAR_CODE
    if (Number.isNaN(group)) fail('ends within a position: it was cut off', path)
    if (group < 0 || group >= 2 * MORE) {
      fail(`has a character that no polyline has (character ${cursor.at + 1})`, path)
    }
    cursor.at++
    sum += (group % MORE) * worth
    if (group < MORE) {
      // A last group of nothing but zeros would have been left out.
      if (group > 0 || worth === 1) break
      fail(`is not as an encoder writes it (character ${cursor.at})`, path)
    }
    worth *= MORE
    if (worth > WORTH_MAX) fail(`has a number that is too large (character ${cursor.at})`, path)
  }
  return sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2
}

const FIRST_CHAR_CODE = 63
/** The bit that says that another group follows, and what a group is worth more than the one before. */
const MORE = 32
/** Of the eighth group: 40 bits are more than any difference has, of longitudes of some turns, too. */
const WORTH_MAX = MORE ** 7

function fail(problem: string, path: string): never {
  throw new ServiceError('InvalidPolyline', `${path} ${problem}`, path)
}
