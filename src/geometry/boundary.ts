/**
 * The edges that bound the point set of a polygon: all of them, unless its rings run over each
 * other. Then the parts of the shell inside a hole bound nothing, nor do the parts of a hole
 * outside the shell or inside another hole.
 *
 * @module
 */
import { GLOBE, lngRange, movedRing, movesOfRing, type UnitRing } from './antimeridian.js'
import { type Bounds, boundsOf } from './bounds.js'
import { type RingBudget, ringBudget } from './ring-budget.js'

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
  // Of a shell round a pole all that reaches into ±180, so that it is cut alike at every turn.
  const onto = shell.isPolar === true ? AROUND_THE_GLOBE : lngRange(shell)
  const moved = holes.flatMap((hole) =>
    movesOfRing(hole, onto).map((move) => movedRing(hole, move)),
  )
  const edges = edgesOf([shell, ...moved], budget)
  const isAnyPolar = [shell, ...holes].some(({ isPolar }) => isPolar === true)
  return edges && isAnyPolar ? withinTheGlobe(edges, shell.isPolar === true) : edges
}

/**
 * Leaves out where rings round a pole are closed beyond it and, where the shell is one, all turns but
 * that within ±180.
 */
function withinTheGlobe(edges: Edges, isShellPolar: boolean): Edges {
  const kept: number[] = []
  for (let i = 0; i < edges.length; i += 4) {
    const [lng1, lat1, lng2, lat2] = edges.slice(i, i + 4)
    const middle = (lng1 + lng2) / 2
    const isInTurn = !isShellPolar || (middle >= GLOBE.min && middle < GLOBE.max)
    if (isInTurn && Math.max(Math.abs(lat1), Math.abs(lat2)) <= POLE) {
      kept.push(lng1, lat1, lng2, lat2)
    }
  }
  return kept
}

const POLE = 9e8
const AROUND_THE_GLOBE = { min: 3 * GLOBE.min, max: 3 * GLOBE.max }

/** @param rings  the shell and its holes in the same continuous longitudes */
function edgesOf(rings: readonly UnitRing[], budget: RingBudget): Edges | undefined {
  if (rings.length === 1)
    return rings[0].flatMap((_, i) => (i % 2 === 0 ? edgeAt(rings[0], i) : []))
  try {
    return new Arrangement(rings, budget).boundary()
  } catch (error) {
    if (error instanceof TooManyComparisons) return undefined
    throw error
  }
}

class TooManyComparisons extends Error {}

/** What it costs to cut two edges at each other, in comparisons. */
const CUT_COST = 16

interface Edge {
  readonly ring: number
  readonly ends: readonly [number, number, number, number]
  /** Where other rings meet it, as shares of its length. */
  readonly cuts: number[]
}

/** Nearer than a tenth of a millimetre, rounding could decide. */
const TOLERANCE_UNITS = 0.01

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

  boundary(): Edges {
    const kept: number[] = []
    const ends = new Set<string>()
    let ring = -1
    let isKept: boolean | undefined
    for (const edge of this.#edges) {
      if (edge.ring !== ring) isKept = undefined
      ring = edge.ring
      for (const [from, to] of partsOf(edge)) {
        // What holds of one part holds of the next, unless another ring comes in between.
        if (from > 0 || edge.cuts.some((share) => share <= 0)) isKept = undefined
        const [start, end] = [at(edge, from), at(edge, to)]
        isKept ??= this.#isBoundary(ring, (start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        if (!isKept) continue
        kept.push(...start, ...end)
        ends.add(start.join()).add(end.join())
      }
      if (edge.cuts.some((share) => share >= 1)) isKept = undefined
    }
    this.#keepPoints(kept, ends)
    return kept
  }

  /** Where rings meet there may be a single point of the polygon, with nothing of it beside. */
  #keepPoints(kept: number[], ends: Set<string>): void {
    for (const edge of this.#edges) {
      for (const share of edge.cuts) {
        const point = at(edge, share)
        if (ends.has(point.join())) continue
        ends.add(point.join())
        if (this.#isBoundary(edge.ring, ...point)) kept.push(...point, ...point)
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
  #isBoundary(ring: number, lng: number, lat: number): boolean {
    this.#charge(this.#rings.length)
    return this.#rings.every((_, other) => {
      if (other === ring) return true
      const side = this.#sideOf(other, lng, lat)
      return other === 0 ? side >= 0 : side <= 0
    })
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
function edgeAt(ring: UnitRing, i: number): Edge['ends'] {
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
function isOn(ends: Edge['ends'], lng: number, lat: number): boolean {
  const [lng1, lat1, lng2, lat2] = ends
  const share = shareAt(lng, lat, ends)
  const lngStep = lng1 + share * (lng2 - lng1) - lng
  const latStep = lat1 + share * (lat2 - lat1) - lat
  return Math.sqrt(lngStep * lngStep + latStep * latStep) <= TOLERANCE_UNITS
}

/** The share of an edge's length that is nearest to a position. */
function shareAt(lng: number, lat: number, [lng1, lat1, lng2, lat2]: Edge['ends']): number {
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
