/**
 * MGRS and USNG references on WGS 84 (NGA.STND.0037): a zone, a band, a square of 100 km, and digits in
 * it, which are cut off and not rounded. A reference of ten digits is a point, the south-west corner of
 * its square metre. One of fewer digits could be any place in its square, and so is that square, as far
 * as it lies in its zone.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { DrawnGeometry, Position } from './drawn.js'
import {
  FALSE_NORTHING_METRES,
  type Unproject,
  unprojector,
  type ZoneBounds,
  zoneBounds,
} from './grid-zones.js'
import { type ListedText, textsOf } from './text-list.js'

/**
 * @param value  a text such as "15R TN 70000 90000", in any letter case and with spaces between its
 * parts, or an array of them
 * @returns a point or a polygon, or a collection of those of an array
 * @throws ServiceError  InvalidGridReference with the path of the element, TooManyVertices
 */
export function readMgrs(value: unknown, path: string): DrawnGeometry {
  const drawn: DrawnGeometry[] = []
  let positionCount = 0
  // Before anything is projected: of a square little may be left within its zone.
  const spend = (count: number) => {
    positionCount += count
    if (positionCount > limits.vertexCount) {
      const problem = `has squares of more than ${limits.vertexCount} positions`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
  }
  for (const text of textsOf(value, path, 'InvalidGridReference', WHAT)) {
    drawn.push(placeOf(text, spend))
  }
  if (!Array.isArray(value)) return drawn[0]
  return { type: 'GeometryCollection', geometries: drawn }
}

const WHAT = ['an MGRS reference', 'MGRS references'] as const

const MGRS = /^ *(\d{1,2}) *([a-z]) *([a-z])([a-z]) *(?:(\d{1,5}) +(\d{1,5})|(\d{0,10})) *$/i

const SQUARE_METRES = 100_000
/** No square reaches over so many degrees of latitude. */
const SQUARE_DEGREES = 2
const POINT_DIGIT_COUNT = 5

function placeOf(
  { text, path }: ListedText,
  spend: (positionCount: number) => void,
): DrawnGeometry {
  const match = MGRS.exec(text)
  if (match === null) fail('must be an MGRS reference, such as 15R TN 70000 90000', path)
  const zone = Number(match[1])
  const [band, column, row] = match.slice(2, 5).map((letter) => letter.toUpperCase())
  if ('ABYZ'.includes(band)) fail('is in a polar zone (UPS), which is not read', path)
  const bounds = zoneBounds(zone, band) ?? fail('has a zone or a band that is not there', path)
  const digits = match[7] ?? match[5] + match[6]
  const digitCount = digits.length / 2
  if (!Number.isInteger(digitCount) || (match[5]?.length ?? digitCount) !== digitCount) {
    fail('must have as many digits for its easting as for its northing', path)
  }
  const sideMetres = SQUARE_METRES / 10 ** digitCount
  spend(digitCount === POINT_DIGIT_COUNT ? 1 : 4 * pieceCountOf(sideMetres) + 1)
  const easting = eastingOf(zone, column, path) + sideMetres * Number(digits.slice(0, digitCount))
  const northing = northingOf(zone, row, path) + sideMetres * Number(digits.slice(digitCount))
  const unproject = unprojector(zone, bounds.south < 0)
  // Letters of rows come again after 2,000 km, farther than from one end of a band to the other.
  for (let south = northing; south < FALSE_NORTHING_METRES; south += ROWS_METRES) {
    const [, lat] = unproject(easting, south)
    if (lat > bounds.north + SQUARE_DEGREES || lat < bounds.south - SQUARE_DEGREES) continue
    const square = squareOf(easting, south, sideMetres, unproject)
    const ring = clipped(square, bounds)
    if (!hasArea(ring)) continue
    if (digitCount === POINT_DIGIT_COUNT) return { type: 'Point', coordinates: square[0] }
    return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
  }
  return fail('names a square that is not in its zone and band', path)
}

/** Letters of columns, of the first, second and third zone of three; each zone has eight. */
const COLUMNS = ['ABCDEFGH', 'JKLMNPQR', 'STUVWXYZ']
const ROWS = 'ABCDEFGHJKLMNPQRSTUV'
const ROWS_METRES = ROWS.length * SQUARE_METRES
/** Rows of zones with an even number begin here. */
const EVEN_ROW = ROWS.indexOf('F')

/** Of the west of a column; the first one begins at 100 km. */
function eastingOf(zone: number, column: string, path: string): number {
  const index = COLUMNS[(zone - 1) % COLUMNS.length].indexOf(column)
  if (index < 0) fail('has a square with a column that is not in its zone', path)
  return SQUARE_METRES * (index + 1)
}

/** Of the south of a row, in metres less than 2,000 km. */
function northingOf(zone: number, row: string, path: string): number {
  const index = ROWS.indexOf(row)
  if (index < 0) fail('has a square with a row that is not there', path)
  const first = zone % 2 === 0 ? EVEN_ROW : 0
  return SQUARE_METRES * ((index - first + ROWS.length) % ROWS.length)
}

/** Edges of the largest squares are drawn in so many pieces: off by less than a centimetre. */
const PIECES_MAX = 512

/** Of each side of a square. */
function pieceCountOf(sideMetres: number): number {
  return Math.max(1, Math.ceil((PIECES_MAX * sideMetres) / SQUARE_METRES))
}

/**
 * The outline of a square from its south-west corner round, not closed. Its sides are straight in metres,
 * and so bent in degrees, the more the longer they are.
 */
function squareOf(west: number, south: number, side: number, unproject: Unproject): Position[] {
  const pieceCount = pieceCountOf(side)
  const stops = Array.from({ length: pieceCount }, (_, piece) => (side * piece) / pieceCount)
  const [east, north] = [west + side, south + side]
  return [
    ...stops.map((way) => unproject(west + way, south)),
    ...stops.map((way) => unproject(east, south + way)),
    ...stops.map((way) => unproject(east - way, north)),
    ...stops.map((way) => unproject(west, north - way)),
  ]
}

/**
 * The part of a square within its zone and band. The sides of a square bend to one side and rise or fall
 * all their way, so each crosses a meridian or a parallel once at most, and what is left is in one piece.
 */
function clipped(square: readonly Position[], bounds: ZoneBounds): readonly Position[] {
  const { west, south, east, north } = bounds
  const middle = (west + east) / 2
  // Zones 1 and 60 end at the antimeridian, behind which longitudes begin again.
  let ring = square.map(([lng, lat]): Position => {
    if (lng - middle > 180) return [lng - 360, lat]
    return lng - middle < -180 ? [lng + 360, lat] : [lng, lat]
  })
  ring = halfOf(ring, 0, (lng) => lng - west, west)
  ring = halfOf(ring, 0, (lng) => east - lng, east)
  ring = halfOf(ring, 1, (lat) => lat - south, south)
  return halfOf(ring, 1, (lat) => north - lat, north)
}

/** Squares beside a zone touch it, or are found to overlap it by what is rounded. */
function hasArea(ring: readonly Position[]): boolean {
  return ([0, 1] as const).every((axis) => {
    const along = ring.map((position) => position[axis])
    return Math.max(...along) - Math.min(...along) > ROUNDED_DEGREES
  })
}

/** A tenth of a millimetre: far less than a metre, and far more than is rounded. */
const ROUNDED_DEGREES = 1e-9

/**
 * The part of a ring on one side of a line (Sutherland and Hodgman).
 *
 * @param axis  0 where the line is a meridian, 1 where it is a parallel
 * @param inward  how far a coordinate is inside
 * @param limit  the coordinate of the line
 */
function halfOf(
  ring: readonly Position[],
  axis: 0 | 1,
  inward: (coordinate: number) => number,
  limit: number,
): Position[] {
  const half: Position[] = []
  for (const [index, to] of ring.entries()) {
    const from = ring.at(index - 1) as Position
    const before = inward(from[axis])
    const after = inward(to[axis])
    if ((before > 0 && after < 0) || (before < 0 && after > 0)) {
      const part = before / (before - after)
      const other = from[1 - axis] + part * (to[1 - axis] - from[1 - axis])
      half.push(axis === 0 ? [limit, other] : [other, limit])
    }
    if (after >= 0) half.push(to)
  }
  return half
}

function fail(problem: string, path: string): never {
  throw new ServiceError('InvalidGridReference', `${path} ${problem}`, path)
}
