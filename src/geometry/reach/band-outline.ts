/**
 * What is within a distance of a line, arc by arc, in pieces that hardly overlap: what lies
 * straight beside each arc, with a fan on the outer side where the line turns, and half circles at
 * its ends. A whole circle at each vertex would take ten times as many vertices.
 *
 * A piece and the next one share the edge from the line to the end of the fan, so that nothing is
 * left out between them.
 *
 * @module
 */

import { EARTH_RADIUS_METRES } from '../great-circle.js'
import { type Arc, distanceToArc } from './arc.js'
import { type BoundaryPath, PathBuilder } from './boundary-path.js'
import {
  bearingOf,
  beside,
  circleAround,
  circleStep,
  outlineOfReach,
  sideOf,
} from './reach-outline.js'
import { sumOf, type Vector } from './vectors.js'

/**
 * The piece of arc `index` of a line; far from the poles, and for a radius far below a quarter
 * turn.
 */
export function outlineOfBand(
  arcs: readonly Arc[],
  index: number,
  radiusMetres: number,
  toleranceMetres: number,
): BoundaryPath | 'everywhere' {
  const arc = arcs[index]
  const { left } = arc
  const previous = index > 0 ? arcs[index - 1].left : undefined
  const next = index + 1 < arcs.length ? arcs[index + 1].left : undefined
  const isBeside =
    (index === 0 || previous !== undefined) && (index === arcs.length - 1 || next !== undefined)
  // Without a direction there are no sides, and whole circles it is.
  if (left === undefined || !isBeside) return outlineOfReach(arc, radiusMetres, toleranceMetres)
  const radius = radiusMetres / EARTH_RADIUS_METRES
  const step = circleStep(radiusMetres, toleranceMetres)
  const path = new PathBuilder((place) => distanceToArc(arc, place) - radius, toleranceMetres)
  if (previous !== undefined) path.to(arc.from)
  path.follow(sideOf(arc, left, -radius, false))
  const right = bearingOf(arc.to, opposite(left))
  if (next === undefined) {
    path.follow(circleAround(arc.to, arc.b, radius, right, right + Math.PI, step))
  } else {
    const turn = signedAngle(bearingOf(arc.to, opposite(next)) - right)
    const isToLeft = turn >= 0
    const end = isToLeft ? right + turn : right + Math.PI
    const fan = circleAround(arc.to, arc.b, radius, end - Math.abs(turn), end, step)
    // The end that is shared with the next piece is computed as it is there.
    const shared = isToLeft ? end : end + turn
    const at = (bearing: number) =>
      bearing === shared ? beside(arc.b, next, isToLeft ? -radius : radius) : fan.at(bearing)
    if (!isToLeft) path.to(arc.to)
    path.follow({ at, stops: fan.stops })
    if (isToLeft) path.to(arc.to)
  }
  path.follow(sideOf(arc, left, radius, true))
  if (previous === undefined) {
    const start = bearingOf(arc.from, left)
    path.follow(circleAround(arc.from, arc.a, radius, start, start + Math.PI, step))
  }
  return path.close()
}

function opposite(direction: Vector): Vector {
  return sumOf(direction, -1, direction, 0)
}

/** Within half a turn. */
function signedAngle(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))
}
