/**
 * The parts of the edges of a polygon that belong to it: those of the shell that no hole has cut
 * out, and those of holes that are in the shell. They are found by exact arithmetic.
 *
 * Where edges of more than seven decimals run so closely beside others that doubles cannot tell which
 * is within which, it is open whether a part belongs.
 *
 * @module
 */

import { type Edge, isBesideEdge, sharesWhereBeside } from '../beside-edge.js'
import { type ExactPath, turnedVertex, turnOf, unitsOfExact } from '../decimal.js'
import { anyOf, type Verdict, without } from '../verdict.js'
import type { Place } from './sphere.js'
import type { GlobeRing } from './unwrap.js'

export interface Part {
  readonly ends: readonly [from: Place, to: Place]
  /** Whether it belongs to the polygon for sure. */
  readonly isSure: boolean
}

export function partsOfEdges(shell: GlobeRing, holes: readonly GlobeRing[]): Part[] {
  const rings = [shell, ...holes]
  return rings.flatMap((ring, at) => {
    const others = rings.filter((_, other) => other !== at)
    return edgesOf(ring.path).flatMap((edge) => {
      const belongs = (place: Scaled): Verdict => {
        const verdictOf = (other: GlobeRing) => placeInRing(place, other, edge)
        const inHoles = holes.flatMap((hole) => (hole === ring ? [] : verdictOf(hole).cuts))
        return without(at === 0 ? 'inside' : verdictOf(shell).holds, anyOf(inHoles))
      }
      return partsOfEdge(edge, others, belongs)
    })
  })
}

/** The edge between the places where other rings meet it, and those places themselves. */
function partsOfEdge(
  edge: Edge,
  others: readonly GlobeRing[],
  belongs: (place: Scaled) => Verdict,
): Part[] {
  const shares = [
    { over: 0n, under: 1n },
    { over: 1n, under: 1n },
    ...others.flatMap((ring) => sharesWhereMet(edge, ring)),
  ].sort(ascending)
  if (others.length === 0) return [{ ends: endsOf(edge, shares[0], shares[1]), isSure: true }]
  const pairs = shares.flatMap((share, at): [Share, Share][] =>
    at === 0
      ? [[share, share]]
      : [
          [share, share],
          [shares[at - 1], share],
        ],
  )
  return pairs.flatMap(([start, end]) => {
    const verdict = belongs(placeOn(edge, middleOf(start, end)))
    if (verdict === 'outside') return []
    return [{ ends: endsOf(edge, start, end), isSure: verdict === 'inside' }]
  })
}

/** A share of the way along an edge, as a fraction whose denominator is positive. */
interface Share {
  readonly over: bigint
  readonly under: bigint
}

/** A position as fractions of a unit over `under`. */
interface Scaled {
  readonly lng: bigint
  readonly lat: bigint
  readonly under: bigint
}

function edgesOf({ vertices, unitScale }: ExactPath): Edge[] {
  return vertices.slice(1).map((to, at) => ({ from: vertices[at], to, unitScale }))
}

/** Where any copy of the ring meets an edge, and where it may or may not for who uses doubles. */
function sharesWhereMet(edge: Edge, ring: GlobeRing): Share[] {
  const shares: Share[] = []
  for (const other of edgesOf(ring.path)) {
    for (const turn of turnsOnto(edge, other)) {
      const copy = turnedEdge(other, turn)
      shares.push(...sharesWhereCrossed(edge, copy), ...sharesWhereBeside(edge, copy))
    }
  }
  return shares.filter(isBetweenEnds)
}

function sharesWhereCrossed({ from: a, to: b }: Edge, { from: c, to: d }: Edge): Share[] {
  const [dx, dy] = [b.lng - a.lng, b.lat - a.lat]
  const [cx, cy] = [c.lng - a.lng, c.lat - a.lat]
  const [ex, ey] = [d.lng - c.lng, d.lat - c.lat]
  const turnOfBoth = dx * ey - dy * ex
  if (turnOfBoth !== 0n) {
    const share = positive(cx * ey - cy * ex, turnOfBoth)
    const shareOfOther = positive(cx * dy - cy * dx, turnOfBoth)
    return isBetweenEnds(shareOfOther) ? [share] : []
  }
  if (dx * cy !== dy * cx || (dx === 0n && dy === 0n)) return []
  // On one line: where the ends of the one are on the other.
  const under = dx * dx + dy * dy
  const over = cx * dx + cy * dy
  return [
    { over, under },
    { over: over + ex * dx + ey * dy, under },
  ]
}

/** By how many turns to move an edge so that its longitudes meet those of another. */
function turnsOnto(edge: Edge, other: Edge): number[] {
  const turn = turnOf(edge.unitScale)
  const [west, east] = lngsOf(edge)
  const [otherWest, otherEast] = lngsOf(other)
  const first = Number((west - otherEast) / turn) - 1
  const last = Number((east - otherWest) / turn) + 1
  return Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((turns) => {
    const move = BigInt(turns) * turn
    return otherEast + move >= west && otherWest + move <= east
  })
}

function lngsOf({ from, to }: Edge): [west: bigint, east: bigint] {
  return from.lng < to.lng ? [from.lng, to.lng] : [to.lng, from.lng]
}

function turnedEdge({ from, to, unitScale }: Edge, turns: number): Edge {
  const [turnedFrom, turnedTo] = [from, to].map((end) => turnedVertex(end, turns, unitScale))
  return { from: turnedFrom, to: turnedTo, unitScale }
}

/** Ends included: an edge may end on another. */
function isBetweenEnds({ over, under }: Share): boolean {
  return over >= 0n && over <= under
}

function positive(over: bigint, under: bigint): Share {
  return under > 0n ? { over, under } : { over: -over, under: -under }
}

function ascending(a: Share, b: Share): number {
  const difference = a.over * b.under - b.over * a.under
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function middleOf(a: Share, b: Share): Share {
  return { over: a.over * b.under + b.over * a.under, under: 2n * a.under * b.under }
}

function placeOn({ from, to }: Edge, { over, under }: Share): Scaled {
  return {
    lng: from.lng * under + (to.lng - from.lng) * over,
    lat: from.lat * under + (to.lat - from.lat) * over,
    under,
  }
}

function endsOf(edge: Edge, start: Share, end: Share): Part['ends'] {
  const placeAt = (share: Share): Place => {
    const { lng, lat, under } = placeOn(edge, share)
    const scale = under * edge.unitScale
    return { lngUnits: unitsOfExact(lng, scale), latUnits: unitsOfExact(lat, scale) }
  }
  return [placeAt(start), placeAt(end)]
}

/** Whether a place on an edge is in a ring at any turn: inside or on it, and inside alone. */
function placeInRing(
  place: Scaled,
  { planar, turns }: GlobeRing,
  edge: Edge,
): { readonly holds: Verdict; readonly cuts: Verdict } {
  const turn = turnOf(planar.unitScale) * place.under
  const reduced = { ...place, lng: place.lng % turn }
  const placesOf = turns.map((count) =>
    placeInPlanar({ ...reduced, lng: reduced.lng + BigInt(count) * turn }, planar, edge),
  )
  const places = new Set(placesOf)
  const otherwise = places.has('doubtful') ? 'either' : 'outside'
  const cuts = places.has('interior') ? 'inside' : otherwise
  return { holds: places.has('boundary') ? 'inside' : cuts, cuts }
}

/** Even-odd, in whole numbers. */
function placeInPlanar(place: Scaled, { vertices, unitScale }: ExactPath, edge: Edge) {
  const { lng: px, lat: py, under } = place
  const scale = under * unitScale
  const about = { lngUnits: unitsOfExact(px, scale), latUnits: unitsOfExact(py, scale) }
  let isInterior = false
  let isDoubtful = false
  let from = vertices[vertices.length - 1]
  for (const to of vertices) {
    const [ax, ay, bx, by] = [from.lng, from.lat, to.lng, to.lat].map((value) => value * under)
    const cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    const between = (ax - px) * (bx - px) + (ay - py) * (by - py)
    if (isBesideEdge(about, { from, to, unitScale }, edge)) isDoubtful = true
    else if (cross === 0n && between <= 0n) return 'boundary'
    if (ay > py !== by > py && cross > 0n === by > ay) isInterior = !isInterior
    from = to
  }
  if (isDoubtful) return 'doubtful'
  return isInterior ? 'interior' : 'outside'
}
