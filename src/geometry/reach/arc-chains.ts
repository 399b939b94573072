/**
 * Arcs that follow one another with the same radius, as lines of fewer vertices that stay near to
 * them: a margin has many short arcs, which hardly bend.
 *
 * @module
 */

import { EARTH_RADIUS_METRES } from '../great-circle.js'
import { arcBetween, distanceToArc, type Position } from './arc.js'
import type { Reaches } from './reaches.js'
import { angleBetween, vectorAt } from './vectors.js'

export interface ArcChain {
  /** One vertex is a point. */
  readonly vertices: readonly Position[]
  readonly radiusMetres: number
}

/** @param slackMetres  by how much a line may leave the arcs that it stands for, by their radius */
export function arcChains(
  { arcs, radiiMetres }: Reaches,
  slackMetres: (radiusMetres: number) => number,
): ArcChain[] {
  const chains: ArcChain[] = []
  let vertices: Position[] = []
  for (let arc = 0; arc < radiiMetres.length; arc++) {
    const radiusMetres = radiiMetres[arc]
    const [lng1, lat1, lng2, lat2] = arcs.subarray(4 * arc, 4 * arc + 4)
    vertices.push([lng1, lat1])
    // The same numbers, if it goes on: where one arc ends the next was begun, and no sum was taken.
    const goesOn =
      arc + 1 < radiiMetres.length &&
      radiiMetres[arc + 1] === radiusMetres &&
      arcs[4 * arc + 4] === lng2 &&
      arcs[4 * arc + 5] === lat2
    if (goesOn) continue
    if (lng1 !== lng2 || lat1 !== lat2) vertices.push([lng2, lat2])
    chains.push({ vertices: thinned(vertices, slackMetres(radiusMetres)), radiusMetres })
    vertices = []
  }
  return chains
}

/** Leaves out vertices that are within `slackMetres` of the arc that replaces them. */
function thinned(vertices: readonly Position[], slackMetres: number): Position[] {
  const slack = slackMetres / EARTH_RADIUS_METRES
  const kept = vertices.slice(0, 1)
  let first = 0
  while (first < vertices.length - 1) {
    let last = first + 1
    while (last + 1 < vertices.length && stands(vertices, first, last + 1, slack)) last++
    kept.push(vertices[last])
    first = last
  }
  return kept
}

/** Whether the arc from one vertex to another stands for all that are between. */
function stands(vertices: readonly Position[], first: number, last: number, slack: number) {
  if (last - first > SKIPPED_MAX) return false
  const arc = arcBetween(vertices[first], vertices[last])
  if (angleBetween(arc.a, arc.b) > LENGTH_MAX) return false
  for (let i = first + 1; i < last; i++) {
    if (distanceToArc(arc, vectorAt(...vertices[i])) > slack) return false
  }
  return true
}

/** So that thinning takes a few tests a vertex. */
const SKIPPED_MAX = 32
const LENGTH_MAX = Math.PI / 4
