/**
 * The boundary of what is within a distance of a point or of a great-circle arc: a circle, or two
 * lines beside the arc and a half circle at each end.
 *
 * @module
 */

import { EARTH_RADIUS_METRES } from '../great-circle.js'
import { type Arc, directionsAt, distanceToArc, type Position } from './arc.js'
import { type BoundaryPath, type Curve, PathBuilder } from './boundary-path.js'
import { angleBetween, cross, dot, sumOf, type Vector } from './vectors.js'

/** The boundary, with what is within reach to its left; `everywhere` has none. */
export function outlineOfReach(
  arc: Arc,
  radiusMetres: number,
  toleranceMetres: number,
): BoundaryPath | 'everywhere' {
  const radius = radiusMetres / EARTH_RADIUS_METRES
  const away = Math.PI - radius
  if (away * EARTH_RADIUS_METRES <= toleranceMetres / 2) return 'everywhere'
  const path = new PathBuilder((place) => distanceToArc(arc, place) - radius, toleranceMetres)
  const step = circleStep(radiusMetres, toleranceMetres)
  if (arc.left === undefined) {
    path.follow(circleAround(arc.from, arc.a, radius, 0, 2 * Math.PI, step))
    return path.close()
  }
  const half = halfCap(angleBetween(arc.a, arc.b), radius)
  if (half === undefined) return 'everywhere'
  const { left, a, b } = arc
  const ahead = bearingOf(arc.to, cross(left, b))
  const back = bearingOf(arc.from, cross(a, left))
  const isCapsule = radius < Math.PI / 2
  if (isCapsule) path.follow(sideOf(arc, left, -radius, false))
  path.follow(circleAround(arc.to, b, radius, ahead - half, ahead + half, step))
  if (isCapsule) path.follow(sideOf(arc, left, radius, true))
  path.follow(circleAround(arc.from, a, radius, back - half, back + half, step))
  return path.close()
}

/**
 * How far to each side of straight on the boundary runs round an end of an arc: a quarter turn
 * while there are lines beside the arc. Beyond a quarter of the globe the circles round both ends
 * meet on the far side of the Earth, at `cos = -cot(radius) tan(length / 2)`, or do not, and all is
 * inside.
 */
function halfCap(length: number, radius: number): number | undefined {
  // Where rounding decides, what is drawn differs by less than the tolerance of a large radius.
  if (radius < Math.PI / 2) return Math.PI / 2
  const cosine = -Math.tan(length / 2) / Math.tan(radius)
  const half = cosine < 1 ? Math.acos(Math.max(0, cosine)) : 0
  return half > NARROWEST ? half : undefined
}

/** Of what is out of reach: it would be a few metres wide, among tolerances of kilometres. */
const NARROWEST = 1e-3

/** Between the vertices of a circle, in radians: chords leave it by no more than the tolerance. */
export function circleStep(radiusMetres: number, toleranceMetres: number): number {
  const share = Math.min(1, (SHARE_OF_CHORDS * toleranceMetres) / radiusMetres)
  return (2 * Math.PI) / Math.max(VERTICES_MIN, Math.ceil(Math.PI / Math.acos(1 - share)))
}

const SHARE_OF_CHORDS = 0.5
const VERTICES_MIN = 8

/**
 * A circle from one bearing to a greater one, counterclockwise from the east, in radians. Its
 * vertices are at whole steps, so that those of circles round the same place are the same.
 */
export function circleAround(
  position: Position,
  centre: Vector,
  radius: number,
  from: number,
  to: number,
  step: number,
): Curve {
  const { east, north } = directionsAt(position)
  const at = (bearing: number) =>
    beside(centre, sumOf(east, Math.cos(bearing), north, Math.sin(bearing)), radius)
  const stops = [from]
  for (let k = Math.ceil(from / step); k * step < to; k++) {
    const isApart = k * step > from + step / 20 && k * step < to - step / 20
    if (isApart) stops.push(k * step)
  }
  return { at, stops: [...stops, to] }
}

/** The line beside an arc at a distance to its left, or to its right where that is negative. */
export function sideOf({ a, b }: Arc, left: Vector, distance: number, isBackwards: boolean): Curve {
  const length = angleBetween(a, b)
  const forward = cross(left, a)
  const at = (share: number) => {
    const along = (isBackwards ? 1 - share : share) * length
    return beside(sumOf(a, Math.cos(along), forward, Math.sin(along)), left, distance)
  }
  const pieceCount = Math.ceil(length / SIDE_STEP)
  return { at, stops: Array.from({ length: pieceCount + 1 }, (_, i) => i / pieceCount) }
}

const SIDE_STEP = Math.PI / 36

/** Where one comes by going a distance in a direction. */
export function beside(place: Vector, direction: Vector, distance: number): Vector {
  return sumOf(place, Math.cos(distance), direction, Math.sin(distance))
}

/** Counterclockwise from the east, in radians. */
export function bearingOf(position: Position, direction: Vector): number {
  const { east, north } = directionsAt(position)
  return Math.atan2(dot(direction, north), dot(direction, east))
}
