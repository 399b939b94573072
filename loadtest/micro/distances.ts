/**
 * The baseline for shapes that are distances: KDBush on degrees, the bounding box, and the
 * great-circle distance of what lies in it. The Earth is a sphere, as it is for the engine.
 *
 * Boxes do not reach over the antimeridian: the recipients are of the United States, and none of
 * them is near enough to it.
 *
 * @module
 */
import type { NaiveIndex } from './harness/naive.js'

/** In degrees. */
export interface Circle {
  readonly lng: number
  readonly lat: number
  readonly radiusMetres: number
}

export interface Corridor {
  readonly positions: readonly (readonly [lng: number, lat: number])[]
  readonly bufferMetres: number
}

export function naiveCircleCount(
  { index, lngs, lats }: NaiveIndex,
  { lng, lat, radiusMetres }: Circle,
  slackMetres: number,
): number {
  const limitMetres = radiusMetres + slackMetres
  let count = 0
  for (const row of index.range(...circleBox(lng, lat, limitMetres))) {
    if (haversineMetres(lng, lat, lngs[row], lats[row]) <= limitMetres) count++
  }
  return count
}

/** West, south, east and north of a circle, in degrees. */
export function circleBox(
  lng: number,
  lat: number,
  limitMetres: number,
): [number, number, number, number] {
  const latReach = (limitMetres / RADIUS_METRES) * DEGREES * BOX_MARGIN
  const lngReach = lngReachOf(limitMetres, lat) * BOX_MARGIN
  return [lng - lngReach, lat - latReach, lng + lngReach, lat + latReach]
}

export function naiveCorridorCount(
  { index, lngs, lats }: NaiveIndex,
  { positions, bufferMetres }: Corridor,
  slackMetres: number,
): number {
  const limitMetres = bufferMetres + slackMetres
  const segments = positions.slice(1).map((to, i) => toSegment(positions[i], to))
  const [west, south, east, north] = corridorBox(positions, limitMetres)
  let count = 0
  for (const row of index.range(west, south, east, north)) {
    for (const segment of segments) {
      if (segmentMetres(segment, lngs[row], lats[row]) > limitMetres) continue
      count++
      break
    }
  }
  return count
}

const RADIUS_METRES = 6_371_000
const RADIANS = Math.PI / 180
const DEGREES = 180 / Math.PI
/** Against rounding: who is a hair outside is tested and refused. */
const BOX_MARGIN = 1 + 1e-9

export function haversineMetres(lngA: number, latA: number, lngB: number, latB: number): number {
  const sinLat = Math.sin(((latB - latA) * RADIANS) / 2)
  const sinLng = Math.sin(((lngB - lngA) * RADIANS) / 2)
  const square = sinLat ** 2 + Math.cos(latA * RADIANS) * Math.cos(latB * RADIANS) * sinLng ** 2
  return 2 * RADIUS_METRES * Math.asin(Math.sqrt(square))
}

/** Degrees of longitude that a circle around this latitude reaches. */
function lngReachOf(metres: number, lat: number): number {
  return Math.asin(Math.sin(metres / RADIUS_METRES) / Math.cos(lat * RADIANS)) * DEGREES
}

type Vector = readonly [x: number, y: number, z: number]

/** An arc of a great circle, the shorter one between its ends. */
interface Segment {
  readonly from: readonly [lng: number, lat: number]
  readonly to: readonly [lng: number, lat: number]
  /** Unit vector at right angles to the plane of the arc. */
  readonly normal: Vector
  /** At right angles to the plane's normal and to an end; the arc is where both are positive. */
  readonly fromSide: Vector
  readonly toSide: Vector
}

function toSegment(
  from: readonly [lng: number, lat: number],
  to: readonly [lng: number, lat: number],
): Segment {
  const [a, b] = [toVector(...from), toVector(...to)]
  const product = cross(a, b)
  const size = Math.hypot(...product)
  const normal: Vector = [product[0] / size, product[1] / size, product[2] / size]
  return { from, to, normal, fromSide: cross(normal, a), toSide: cross(b, normal) }
}

function segmentMetres({ from, to, normal, fromSide, toSide }: Segment, lng: number, lat: number) {
  const point = toVector(lng, lat)
  if (dot(fromSide, point) >= 0 && dot(toSide, point) >= 0) {
    return RADIUS_METRES * Math.asin(Math.abs(dot(normal, point)))
  }
  return Math.min(haversineMetres(...from, lng, lat), haversineMetres(...to, lng, lat))
}

function corridorBox(positions: Corridor['positions'], limitMetres: number) {
  const lngs = positions.map(([lng]) => lng)
  const lats = positions.map(([, lat]) => lat)
  const widestLat = Math.max(...lats.map(Math.abs))
  const lengths = positions.slice(1).map((to, i) => haversineMetres(...positions[i], ...to))
  // An arc leaves the latitudes of its ends by its sagitta, times the tangent of the latitude.
  const sagitta = Math.max(...lengths) ** 2 / (8 * RADIUS_METRES)
  const reachMetres = limitMetres * BOX_MARGIN + 2 * sagitta * Math.tan(widestLat * RADIANS)
  const latReach = (reachMetres / RADIUS_METRES) * DEGREES
  const lngReach = lngReachOf(reachMetres, widestLat)
  return [
    Math.min(...lngs) - lngReach,
    Math.min(...lats) - latReach,
    Math.max(...lngs) + lngReach,
    Math.max(...lats) + latReach,
  ]
}

function toVector(lng: number, lat: number): Vector {
  const cosLat = Math.cos(lat * RADIANS)
  return [
    cosLat * Math.cos(lng * RADIANS),
    cosLat * Math.sin(lng * RADIANS),
    Math.sin(lat * RADIANS),
  ]
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
