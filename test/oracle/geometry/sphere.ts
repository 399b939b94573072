/**
 * Distances in metres on a sphere. Positions are longitude and latitude in units of 1e-7 degree,
 * and need not be whole. All formulas keep their precision from nothing to half way round.
 *
 * @module
 */
import { reducedLngUnitsOf, unitsOf } from '../decimal.js'

export const EARTH_RADIUS_METRES = 6_371_000
export const HALF_WAY_ROUND_METRES = Math.PI * EARTH_RADIUS_METRES

export interface Place {
  readonly lngUnits: number
  readonly latUnits: number
}

export function placeAt([lng, lat]: readonly number[]): Place {
  return { lngUnits: unitsOf(lng), latUnits: unitsOf(lat) }
}

/** The same without whole turns, which a double has no room for. */
export function placeOnGlobe([lng, lat]: readonly number[]): Place {
  return { lngUnits: reducedLngUnitsOf(lng), latUnits: unitsOf(lat) }
}

/**
 * The haversine formula. Near the antipode its sine does not tell, but the cosine does, which is
 * the haversine to the antipode.
 */
export function distanceMetres(a: Place, b: Place): number {
  const halfLng = radians(b.lngUnits - a.lngUnits) / 2
  const halfLat = radians(b.latUnits - a.latUnits) / 2
  const meanLat = radians(a.latUnits + b.latUnits) / 2
  const cosines = cosine(a.latUnits) * cosine(b.latUnits)
  const sine = Math.sin(halfLat) ** 2 + cosines * Math.sin(halfLng) ** 2
  const antipodal = Math.sin(meanLat) ** 2 + cosines * Math.cos(halfLng) ** 2
  return 2 * EARTH_RADIUS_METRES * Math.atan2(Math.sqrt(sine), Math.sqrt(antipodal))
}

/**
 * Distance to the shorter great-circle arc between two places: across its great circle where the
 * foot of the perpendicular is on the arc, else to the nearer end. Ends must not be antipodal.
 */
export function arcDistanceMetres(point: Place, from: Place, to: Place): number {
  const nearerEnd = Math.min(distanceMetres(point, from), distanceMetres(point, to))
  if (distanceMetres(from, to) === 0) return nearerEnd
  const there = aheadAndAcross(point, from, to)
  const back = aheadAndAcross(point, to, from)
  return there.ahead > 0 && back.ahead > 0 ? there.acrossMetres : nearerEnd
}

/**
 * With the unit vector a of `from`, chords u to `to` and w to `point`, and n = a × u normal to
 * the great circle: n · w / |n| is the sine of the distance across, and what is left of p = a + w
 * in the plane of the circle is its cosine. Chords are made from differences of coordinates, so
 * that short ones are as precise as long ones.
 */
function aheadAndAcross(
  point: Place,
  from: Place,
  to: Place,
): { readonly ahead: number; readonly acrossMetres: number } {
  const a = [cosine(from.latUnits), 0, Math.sin(radians(from.latUnits))]
  const u = chord(from, to)
  const w = chord(from, point)
  const n = cross(a, u)
  const length = Math.sqrt(dot(n, n))
  // p · (n × a), where a · u = -|u|²/2 and a · w = -|w|²/2 because they end on the unit sphere.
  const ahead = dot(u, w) - (dot(u, u) * dot(w, w)) / 4
  const inPlane = Math.hypot(1 - dot(w, w) / 2, ahead / length)
  const across = Math.abs(dot(n, w)) / length
  return { ahead, acrossMetres: EARTH_RADIUS_METRES * Math.atan2(across, inPlane) }
}

type Vector = readonly number[]

/** The vector between two unit vectors, longitudes counted from that of `from`. */
function chord(from: Place, to: Place): Vector {
  const lng = radians(to.lngUnits - from.lngUnits)
  const halfLat = radians(to.latUnits - from.latUnits) / 2
  const meanLat = radians(from.latUnits + to.latUnits) / 2
  return [
    -2 * Math.sin(meanLat) * Math.sin(halfLat) - 2 * cosine(to.latUnits) * Math.sin(lng / 2) ** 2,
    cosine(to.latUnits) * Math.sin(lng),
    2 * Math.cos(meanLat) * Math.sin(halfLat),
  ]
}

/** No less than the way along a line that is straight in longitude and latitude. */
export function straightLengthMetres(from: Place, to: Place): number {
  const crossesEquator = from.latUnits * to.latUnits < 0
  const nearestToEquator = Math.min(Math.abs(from.latUnits), Math.abs(to.latUnits))
  const width = crossesEquator ? 1 : cosine(nearestToEquator)
  const lng = radians(to.lngUnits - from.lngUnits) * width
  return EARTH_RADIUS_METRES * Math.hypot(lng, radians(to.latUnits - from.latUnits)) * (1 + 1e-12)
}

function radians(units: number): number {
  return (units / 1e7) * (Math.PI / 180)
}

/** Exactly 0 at the poles: no longitude makes a difference there. */
function cosine(latUnits: number): number {
  return Math.sin(radians(900_000_000 - Math.abs(latUnits)))
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
