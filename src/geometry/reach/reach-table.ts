/**
 * The arcs of circles, corridors and margins, prepared for testing many points against them.
 *
 * Everything is measured in chords of the unit sphere, straight through it: chords order points as
 * great-circle distances do, and obey the triangle inequality of space. For a circle the square of a
 * chord is the haversine formula without its roots; for an arc it takes points as vectors.
 *
 * @module
 */
import { chordOf, EARTH_RADIUS_METRES, haversineMetres } from '../great-circle.js'
import { RADIANS_PER_UNIT } from '../units.js'
import type { Reaches } from './reaches.js'

/** Arcs as rows of STRIDE numbers each; see the names of the offsets. */
export interface ReachTable {
  arcCount: number
  rows: Float64Array
  /** 1 where the arc is a single point, the centre of a circle. */
  isCircle: Uint8Array
  /** The reaches that the rows were made from. */
  reaches: Reaches
}

/**
 * Offsets in a row: the latitudes beyond which nothing is within reach, in units; the chord of the
 * radius, and the squared chords up to which a point is within reach for certain and from which it is
 * beyond; both ends as vectors; the normal of the plane through the arc; and the directions along the
 * arc at its first end and against it at its last. A circle has its centre in units and the cosine
 * and sine of its latitude where an arc has its ends.
 */
export const SOUTH = 0
export const NORTH = 1
export const CHORD = 2
export const WITHIN = 3
export const BEYOND = 4
const FROM = 5
const TO = 8
const NORMAL = 11
const FORWARD = 14
const BACKWARD = 17
export const STRIDE = 20
export const CENTRE_LNG = 5
export const CENTRE_LAT = 6
export const LAT_COSINE = 7
export const LAT_SINE = 8

export function createReachTable(): ReachTable {
  return {
    arcCount: 0,
    rows: new Float64Array(0),
    isCircle: new Uint8Array(0),
    reaches: { arcs: new Float64Array(0), radiiMetres: new Float64Array(0) },
  }
}

export function fillReachTable(table: ReachTable, reaches: Reaches): void {
  const arcCount = reaches.radiiMetres.length
  if (arcCount > table.isCircle.length) {
    table.rows = new Float64Array(2 * arcCount * STRIDE)
    table.isCircle = new Uint8Array(2 * arcCount)
  }
  table.arcCount = arcCount
  table.reaches = reaches
  for (let arc = 0; arc < arcCount; arc++) {
    table.isCircle[arc] = Number(fillRow(table.rows, arc * STRIDE, reaches, arc))
  }
}

/**
 * The square of the chord between points `angle` radians apart on a great circle, 4 sin²(angle / 2).
 * The series is as exact as doubles are, to within four of their last digits.
 */
export function squaredChordOf(angle: number): number {
  const s = angle * angle
  if (s < SMALL_SQUARE) return s * (1 - (s / 12) * (1 - (s / 30) * (1 - (s / 56) * (1 - s / 90))))
  const sine = Math.sin(angle / 2)
  return 4 * sine * sine
}

/** Of 0.1 radian, 640 km. */
export const SMALL_SQUARE = 0.01

/**
 * The square of the chord from a point of the unit sphere to the nearest point of an arc.
 *
 * @param row  where the arc's row starts
 */
export function squaredChord(
  rows: Float64Array,
  row: number,
  x: number,
  y: number,
  z: number,
): number {
  const fromX = x - rows[row + FROM]
  const fromY = y - rows[row + FROM + 1]
  const fromZ = z - rows[row + FROM + 2]
  const fromSquare = fromX * fromX + fromY * fromY + fromZ * fromZ
  const toX = x - rows[row + TO]
  const toY = y - rows[row + TO + 1]
  const toZ = z - rows[row + TO + 2]
  const forward =
    fromX * rows[row + FORWARD] + fromY * rows[row + FORWARD + 1] + fromZ * rows[row + FORWARD + 2]
  const backward =
    toX * rows[row + BACKWARD] + toY * rows[row + BACKWARD + 1] + toZ * rows[row + BACKWARD + 2]
  if (forward > 0 && backward > 0) {
    // Beside the arc: the sine of the distance is the distance from the plane.
    const sine =
      fromX * rows[row + NORMAL] + fromY * rows[row + NORMAL + 1] + fromZ * rows[row + NORMAL + 2]
    const sineSquare = sine * sine
    return (2 * sineSquare) / (1 + Math.sqrt(Math.max(0, 1 - sineSquare)))
  }
  return Math.min(fromSquare, toX * toX + toY * toY + toZ * toZ)
}

/**
 * Within this of its square a chord is in doubt: coordinates on the unit sphere are off by a few
 * 2 ** -53, for which the first term leaves room forty times over, and so for the nanometres of
 * `limitOf`, whose share of the distance is in the second.
 */
function squaredChordSlack(chord: number): number {
  return chord * 2 ** -46 + 4 * LIMIT_SHARE * chord * chord
}

/**
 * Up to where a recipient counts as at the limit. Distances differ in their last digits by the way
 * in which the same formula is written, most where degrees are subtracted first: by nanometres. Who
 * asks with the distance of a recipient means that recipient.
 */
function limitOf(radiusMetres: number): number {
  return radiusMetres * (1 + LIMIT_SHARE) + LIMIT_METRES
}

const LIMIT_SHARE = 1e-12
const LIMIT_METRES = 1e-8

/** Decides what is in doubt. For a circle it is what the haversine formula says. */
export function isWithin(
  { isCircle, reaches }: ReachTable,
  arc: number,
  lng: number,
  lat: number,
  square: number,
): boolean {
  const { arcs, radiiMetres } = reaches
  const limitMetres = limitOf(radiiMetres[arc])
  if (isCircle[arc] === 1) {
    return haversineMetres(arcs[4 * arc], arcs[4 * arc + 1], lng, lat) <= limitMetres
  }
  return square <= chordOf(limitMetres) ** 2
}

/** Returns whether the arc is a single point. */
function fillRow(
  rows: Float64Array,
  row: number,
  { arcs, radiiMetres }: Reaches,
  arc: number,
): boolean {
  const [lng1, lat1] = [arcs[4 * arc], arcs[4 * arc + 1]]
  const [lng2, lat2] = [arcs[4 * arc + 2], arcs[4 * arc + 3]]
  // Any point of an arc is within half its length of an end.
  const lengthMetres = haversineMetres(lng1, lat1, lng2, lat2)
  const farMetres = radiiMetres[arc] + lengthMetres / 2 + SPARE_METRES
  const farUnits = farMetres / EARTH_RADIUS_METRES / RADIANS_PER_UNIT
  rows[row + SOUTH] = Math.min(lat1, lat2) - farUnits
  rows[row + NORTH] = Math.max(lat1, lat2) + farUnits
  const chord = chordOf(radiiMetres[arc])
  rows[row + CHORD] = chord
  rows[row + WITHIN] = chord * chord - squaredChordSlack(chord)
  rows[row + BEYOND] = chord * chord + squaredChordSlack(chord)
  if (lengthMetres < POINT_METRES) {
    rows[row + CENTRE_LNG] = lng1
    rows[row + CENTRE_LAT] = lat1
    rows[row + LAT_COSINE] = Math.cos(lat1 * RADIANS_PER_UNIT)
    rows[row + LAT_SINE] = Math.sin(lat1 * RADIANS_PER_UNIT)
    return true
  }
  putPoint(rows, row + FROM, lng1, lat1)
  putPoint(rows, row + TO, lng2, lat2)
  // Plain numbers: with a function that maps vectors, all of this takes seven times as long, and an area has an arc for
  // each vertex.
  const [fromX, fromY, fromZ] = [rows[row + FROM], rows[row + FROM + 1], rows[row + FROM + 2]]
  const [toX, toY, toZ] = [rows[row + TO], rows[row + TO + 1], rows[row + TO + 2]]
  // The sum and the difference of the ends make a better normal than the ends of a short arc do.
  const [sumX, sumY, sumZ] = [fromX + toX, fromY + toY, fromZ + toZ]
  const [spanX, spanY, spanZ] = [toX - fromX, toY - fromY, toZ - fromZ]
  const crossX = sumY * spanZ - sumZ * spanY
  const crossY = sumZ * spanX - sumX * spanZ
  const crossZ = sumX * spanY - sumY * spanX
  const length = Math.hypot(crossX, crossY, crossZ)
  const [x, y, z] = [crossX / length, crossY / length, crossZ / length]
  rows[row + NORMAL] = x
  rows[row + NORMAL + 1] = y
  rows[row + NORMAL + 2] = z
  // The cross product of the normal and the first end, and that of the last end and the normal.
  rows[row + FORWARD] = y * fromZ - z * fromY
  rows[row + FORWARD + 1] = z * fromX - x * fromZ
  rows[row + FORWARD + 2] = x * fromY - y * fromX
  rows[row + BACKWARD] = toY * z - toZ * y
  rows[row + BACKWARD + 1] = toZ * x - toX * z
  rows[row + BACKWARD + 2] = toX * y - toY * x
  return false
}

/** Shorter arcs are as good as points. */
const POINT_METRES = 1e-6
/** Far beyond what rounding does to a latitude. */
const SPARE_METRES = 0.001

function putPoint(rows: Float64Array, at: number, lng: number, lat: number): void {
  const lngRadians = lng * RADIANS_PER_UNIT
  const latRadians = lat * RADIANS_PER_UNIT
  rows[at] = Math.cos(latRadians) * Math.cos(lngRadians)
  rows[at + 1] = Math.cos(latRadians) * Math.sin(lngRadians)
  rows[at + 2] = Math.sin(latRadians)
}
