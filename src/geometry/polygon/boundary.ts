/**
 * The edges that bound the point set of a polygon: all of them, unless its rings run over each
 * other. Then the parts of the shell inside a hole bound nothing, nor do the parts of a hole
 * outside the shell or inside another hole.
 *
 * @module
 */

import { type Bounds, boundsOf } from '../bounds.js'
import { type RingBudget, ringBudget } from '../ring-budget.js'
import { POLE_UNITS } from '../units.js'
import { centred, GLOBE, lngRange, movedRing, turnsOfRing, type UnitRing } from './antimeridian.js'

/** Edges, four numbers each: lng, lat, lng, lat in units. A single point is an edge without length. */
export type Edges = readonly number[]

/**
 * @returns the edges at any whole turn, each once; undefined when the rings take more
 *   comparisons than the budget has to tell
 */
export function boundaryOf(
  shell: UnitRing,
  holes: readonly UnitRing[],
  budget: RingBudget = ringBudget(),
): Edges | undefined {
  // A ring round a pole is right near the globe alone.
  const isHolePolar = shell.isPolar !== true && holes.some(({ isPolar }) => isPolar === true)
  const around = isHolePolar ? centred(shell) : shell
  // Of a shell round a pole all that reaches into ±180, so that it is cut alike at every turn.
  const onto = shell.isPolar === true ? AROUND_THE_GLOBE : lngRange(around)
  const moved = holes.flatMap((hole) =>
    turnsOfRing(hole, onto).map((turn) => movedRing(hole, turn)),
  )
  const isAnyPolar = [shell, ...holes].some(({ isPolar }) => isPolar === true)
  const isWanted = isAnyPolar ? isOnTheGlobe(shell.isPolar === true) : () => true
  return edgesOf([around, ...moved], isWanted, budget)
}

type Ends = readonly [lng1: number, lat1: number, lng2: number, lat2: number]

/**
 * Tells the edges that close rings beyond a pole from the others and, where the shell is round a
 * pole, one turn from the others: each edge once, by where it begins. That is not a sum: within ±180
 * a vertex has the longitude that it was sent with.
 */
function isOnTheGlobe(isShellPolar: boolean): (ends: Ends) => boolean {
  return ([lng1, lat1, , lat2]) =>
    (!isShellPolar || (lng1 >= GLOBE.min && lng1 < GLOBE.max)) &&
    Math.max(Math.abs(lat1), Math.abs(lat2)) <= POLE_UNITS
}

const AROUND_THE_GLOBE = { min: 3 * GLOBE.min, max: 3 * GLOBE.max }

/** @param rings  the shell and its holes in the same continuous longitudes */
function edgesOf(
  rings: readonly UnitRing[],
  isWanted: (ends: Ends) => boolean,
  budget: RingBudget,
): Edges | undefined {
  if (rings.length === 1) {
    return rings[0].flatMap((_, i) => {
      const ends = i % 2 === 0 ? edgeAt(rings[0], i) : undefined
      return ends !== undefined && isWanted(ends) ? ends : []
    })
  }
  try {
    return new Arrangement(rings, budget).boundary(isWanted)
  } catch (error) {
    if (error instanceof TooManyComparisons) return undefined
    throw error
  }
}

class TooManyComparisons extends Error {}

/** A position on another ring, by the tolerance, says nothing of the positions beside it. */
type Belonging = 'yes' | 'no' | 'on another ring'

/** The cost of cutting two edges at each other, in comparisons. */
const CUT_COST = 16

interface Edge {
  readonly ring: number
  readonly ends: Ends
  /** Where other rings meet it, as shares of its length. */
  readonly cuts: number[]
}

/**
 * Nearer than a hundredth of a millimetre a position is on an edge. Where two edges meet, it is off by
 * rounding, a hundred-thousandth of a unit at most; so what is not on an edge is on the side of it
 * that comparisons of doubles say.
 */
const TOLERANCE_UNITS = 0.001

class Arrangement {
  readonly #rings: readonly UnitRing[]
  readonly #bounds: readonly Readonly<Bounds>[]
  readonly #edges: readonly Edge[]
  readonly #budget: RingBudget

  constructor(rings: readonly UnitRing[], budget: RingBudget) {
    this.#rings = rings
    this.#budget = budget
    this.#bounds = rings.map(boundsOf)
    this.#edges = rings.flatMap((vertices, ring) =>
      vertices.flatMap((_, i) =>
        i % 2 === 0 ? [{ ring, ends: edgeAt(vertices, i), cuts: [] }] : [],
      ),
    )
    this.#cutEdges()
  }

  boundary(isWanted: (ends: Ends) => boolean): Edges {
    const kept: number[] = []
    const ends = new Set<string>()
    let ring = -1
    let belonging: Belonging | undefined
    const edges = this.#edges.filter((edge) => isWanted(edge.ends))
    let before: Ends | undefined
    for (const edge of edges) {
      // A finding about one edge holds for the next one of the ring.
      if (edge.ring !== ring || edge.ends[0] !== before?.[2] || edge.ends[1] !== before[3]) {
        belonging = undefined
      }
      ring = edge.ring
      before = edge.ends
      for (const [from, to] of partsOf(edge)) {
        // A finding about one part holds for the next, unless another ring comes in between.
        if (from > 0 || edge.cuts.some((share) => share <= 0)) belonging = undefined
        const [start, end] = [at(edge, from), at(edge, to)]
        belonging ??= this.#belonging(ring, (start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        if (belonging !== 'no') {
          kept.push(...start, ...end)
          ends.add(start.join()).add(end.join())
        }
        if (belonging === 'on another ring') belonging = undefined
      }
      if (edge.cuts.some((share) => share >= 1)) belonging = undefined
    }
    this.#keepPoints(edges, kept, ends)
    return kept
  }

  /** Where rings meet there may be a single point of the polygon, with nothing of it beside. */
  #keepPoints(edges: readonly Edge[], kept: number[], ends: Set<string>): void {
    for (const edge of edges) {
      for (const share of edge.cuts) {
        const point = at(edge, share)
        if (ends.has(point.join())) continue
        ends.add(point.join())
        if (this.#belonging(edge.ring, ...point) !== 'no') kept.push(...point, ...point)
      }
    }
  }

  /** Pairs of edges of different rings whose boxes meet, from south to north. */
  #cutEdges(): void {
    const order = this.#edges.toSorted((a, b) => lowest(a) - lowest(b))
    for (let i = 0; i < order.length; i++) {
      const north = highest(order[i])
      for (let j = i + 1; j < order.length && lowest(order[j]) <= north; j++) {
        this.#charge(1)
        if (order[i].ring === order[j].ring || areApart(order[i], order[j])) continue
        this.#charge(CUT_COST)
        cut(order[i], order[j])
      }
    }
  }

  /** Whether a position on one ring belongs to the point set, as far as the other rings say. */
  #belonging(ring: number, lng: number, lat: number): Belonging {
    this.#charge(this.#rings.length)
    let belonging: Belonging = 'yes'
    for (let other = 0; other < this.#rings.length; other++) {
      if (other === ring) continue
      const side = this.#sideOf(other, lng, lat)
      if (other === 0 ? side < 0 : side > 0) return 'no'
      if (side === 0) belonging = 'on another ring'
    }
    return belonging
  }

  /** 1 inside a ring by the even-odd rule, 0 on it, -1 outside. */
  #sideOf(index: number, lng: number, lat: number): number {
    const { minLng, minLat, maxLng, maxLat } = this.#bounds[index]
    const isNear =
      lng >= minLng - TOLERANCE_UNITS &&
      lng <= maxLng + TOLERANCE_UNITS &&
      lat >= minLat - TOLERANCE_UNITS &&
      lat <= maxLat + TOLERANCE_UNITS
    if (!isNear) return -1
    const ring = this.#rings[index]
    this.#charge(ring.length / 2)
    let isInside = false
    let from = ring.length - 2
    for (let to = 0; to < ring.length; from = to, to += 2) {
      const lng1 = ring[from]
      const lat1 = ring[from + 1]
      const lng2 = ring[to]
      const lat2 = ring[to + 1]
      const isBeside =
        lng >= Math.min(lng1, lng2) - TOLERANCE_UNITS &&
        lng <= Math.max(lng1, lng2) + TOLERANCE_UNITS &&
        lat >= Math.min(lat1, lat2) - TOLERANCE_UNITS &&
        lat <= Math.max(lat1, lat2) + TOLERANCE_UNITS
      if (isBeside && isOn([lng1, lat1, lng2, lat2], lng, lat)) return 0
      const spans = lat1 > lat !== lat2 > lat
      if (spans && lng < lng1 + ((lat - lat1) / (lat2 - lat1)) * (lng2 - lng1)) isInside = !isInside
    }
    return isInside ? 1 : -1
  }

  #charge(comparisonCount: number): void {
    this.#budget.comparisonsLeft -= comparisonCount
    if (this.#budget.comparisonsLeft < 0) throw new TooManyComparisons()
  }
}

/** From the vertex at `i` to the next. */
function edgeAt(ring: UnitRing, i: number): Ends {
  const next = i + 2 < ring.length ? i + 2 : 0
  return [ring[i], ring[i + 1], ring[next], ring[next + 1]]
}

function lowest({ ends }: Edge): number {
  return Math.min(ends[1], ends[3])
}

function highest({ ends }: Edge): number {
  return Math.max(ends[1], ends[3])
}

/** Whether no longitude is common to two edges. */
function areApart({ ends: a }: Edge, { ends: b }: Edge): boolean {
  return Math.max(a[0], a[2]) < Math.min(b[0], b[2]) || Math.max(b[0], b[2]) < Math.min(a[0], a[2])
}

/** Notes where two edges meet. */
function cut(a: Edge, b: Edge): void {
  const [ax, ay, ax2, ay2] = a.ends
  const [bx, by, bx2, by2] = b.ends
  // An end of one on the other, which for parallel edges is the only way to meet.
  touch(a, bx, by)
  touch(a, bx2, by2)
  touch(b, ax, ay)
  touch(b, ax2, ay2)
  const [ux, uy] = [ax2 - ax, ay2 - ay]
  const [vx, vy] = [bx2 - bx, by2 - by]
  // Rounding decides only of edges so nearly parallel that, where they meet, they are within the
  // tolerance of each other's ends.
  const cross = ux * vy - uy * vx
  const atA = ((bx - ax) * vy - (by - ay) * vx) / cross
  const atB = ((bx - ax) * uy - (by - ay) * ux) / cross
  if (cross === 0 || !(atA >= 0 && atA <= 1 && atB >= 0 && atB <= 1)) return
  a.cuts.push(atA)
  b.cuts.push(atB)
}

function touch({ ends, cuts }: Edge, lng: number, lat: number): void {
  if (isOn(ends, lng, lat)) cuts.push(shareAt(lng, lat, ends))
}

/** Whether a position is on an edge, or too near to tell. */
function isOn(ends: Ends, lng: number, lat: number): boolean {
  const [lng1, lat1, lng2, lat2] = ends
  const share = shareAt(lng, lat, ends)
  const lngStep = lng1 + share * (lng2 - lng1) - lng
  const latStep = lat1 + share * (lat2 - lat1) - lat
  return Math.sqrt(lngStep * lngStep + latStep * latStep) <= TOLERANCE_UNITS
}

/** The share of an edge's length that is nearest to a position. */
function shareAt(lng: number, lat: number, [lng1, lat1, lng2, lat2]: Ends): number {
  const [lngSpan, latSpan] = [lng2 - lng1, lat2 - lat1]
  const square = lngSpan * lngSpan + latSpan * latSpan
  if (square === 0) return 0
  const share = ((lng - lng1) * lngSpan + (lat - lat1) * latSpan) / square
  return Math.min(1, Math.max(0, share))
}

/** The parts of an edge between its cuts, as shares of its length. */
function partsOf({ cuts }: Edge): [from: number, to: number][] {
  if (cuts.length === 0) return [[0, 1]]
  const shares = [0, ...cuts.filter((share) => share > 0 && share < 1), 1].sort((a, b) => a - b)
  return shares.slice(1).map((share, i) => [shares[i], share])
}

function at({ ends: [lng1, lat1, lng2, lat2] }: Edge, share: number): [number, number] {
  if (share === 1) return [lng2, lat2]
  return [lng1 + share * (lng2 - lng1), lat1 + share * (lat2 - lat1)]
}
