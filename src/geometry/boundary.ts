/**
 * The edges that bound the point set of a polygon: all of them, unless its rings run over each
 * other. Then the parts of the shell inside a hole bound nothing, nor do the parts of a hole
 * outside the shell or inside another hole.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { UnitRing } from './polygon-list.js'

/** Edges, four numbers each: lng, lat, lng, lat in units. */
export type Edges = readonly number[]

/**
 * @param rings  the shell and its holes in the same continuous longitudes
 * @returns undefined when the rings take more than `limits.boundaryTestCount` to tell
 */
export function boundaryOf(rings: readonly UnitRing[]): Edges | undefined {
  if (rings.length === 1)
    return rings[0].flatMap((_, i) => (i % 2 === 0 ? edgeAt(rings[0], i) : []))
  try {
    return new Arrangement(rings).boundary()
  } catch (error) {
    if (error instanceof TooManyTests) return undefined
    throw error
  }
}

class TooManyTests extends Error {}

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
  readonly #bounds: readonly Bounds[]
  readonly #edges: readonly Edge[]
  readonly #isMet: boolean[]
  #testCount = 0

  constructor(rings: readonly UnitRing[]) {
    this.#rings = rings
    this.#bounds = rings.map(boundsOf)
    this.#isMet = rings.map(() => false)
    this.#edges = rings.flatMap((vertices, ring) =>
      vertices.flatMap((_, i) =>
        i % 2 === 0 ? [{ ring, ends: edgeAt(vertices, i), cuts: [] }] : [],
      ),
    )
    this.#cutEdges()
  }

  boundary(): Edges {
    const isWhole = this.#rings.map(
      (ring, index) => this.#isMet[index] || this.#isBoundary(index, ring[0], ring[1]),
    )
    const kept: number[] = []
    for (const { ring, ends, cuts } of this.#edges) {
      if (!isWhole[ring]) continue
      if (!this.#isMet[ring]) kept.push(...ends)
      else for (const part of partsOf(ends, cuts)) if (this.#keeps(ring, part)) kept.push(...part)
    }
    return kept
  }

  /** Pairs of edges of different rings whose boxes meet, from south to north. */
  #cutEdges(): void {
    const order = this.#edges.toSorted((a, b) => lowest(a) - lowest(b))
    for (let i = 0; i < order.length; i++) {
      const north = highest(order[i])
      for (let j = i + 1; j < order.length && lowest(order[j]) <= north; j++) {
        this.#charge(1)
        if (order[i].ring !== order[j].ring && cut(order[i], order[j])) {
          this.#isMet[order[i].ring] = true
          this.#isMet[order[j].ring] = true
        }
      }
    }
  }

  #keeps(ring: number, [lng1, lat1, lng2, lat2]: Edge['ends']): boolean {
    return this.#isBoundary(ring, (lng1 + lng2) / 2, (lat1 + lat2) / 2)
  }

  /** Whether a position on one ring belongs to the point set, as far as the other rings say. */
  #isBoundary(ring: number, lng: number, lat: number): boolean {
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
    for (let i = 0; i < ring.length; i += 2) {
      const [lng1, lat1, lng2, lat2] = edgeAt(ring, i)
      if (distance(lng, lat, lng1, lat1, lng2, lat2) <= TOLERANCE_UNITS) return 0
      const spans = lat1 > lat !== lat2 > lat
      if (spans && lng < lng1 + ((lat - lat1) / (lat2 - lat1)) * (lng2 - lng1)) isInside = !isInside
    }
    return isInside ? 1 : -1
  }

  #charge(testCount: number): void {
    this.#testCount += testCount
    if (this.#testCount > limits.boundaryTestCount) throw new TooManyTests()
  }
}

interface Bounds {
  readonly minLng: number
  readonly minLat: number
  readonly maxLng: number
  readonly maxLat: number
}

function boundsOf(ring: UnitRing): Bounds {
  const bounds = { minLng: ring[0], minLat: ring[1], maxLng: ring[0], maxLat: ring[1] }
  for (let i = 2; i < ring.length; i += 2) {
    bounds.minLng = Math.min(bounds.minLng, ring[i])
    bounds.maxLng = Math.max(bounds.maxLng, ring[i])
    bounds.minLat = Math.min(bounds.minLat, ring[i + 1])
    bounds.maxLat = Math.max(bounds.maxLat, ring[i + 1])
  }
  return bounds
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

/** Notes where two edges meet; false if they do not. */
function cut(a: Edge, b: Edge): boolean {
  const [ax, ay, ax2, ay2] = a.ends
  const [bx, by, bx2, by2] = b.ends
  const isApart =
    Math.max(ax, ax2) < Math.min(bx, bx2) ||
    Math.max(bx, bx2) < Math.min(ax, ax2) ||
    Math.max(by, by2) < Math.min(ay, ay2)
  if (isApart) return false
  const [ux, uy] = [ax2 - ax, ay2 - ay]
  const [vx, vy] = [bx2 - bx, by2 - by]
  const cross = ux * vy - uy * vx
  const atA = ((bx - ax) * vy - (by - ay) * vx) / cross
  const atB = ((bx - ax) * uy - (by - ay) * ux) / cross
  // An end of one on the other, which for parallel edges is the only way to meet.
  const touches = [touch(a, bx, by), touch(a, bx2, by2), touch(b, ax, ay), touch(b, ax2, ay2)].some(
    Boolean,
  )
  if (cross === 0 || !(atA >= 0 && atA <= 1 && atB >= 0 && atB <= 1)) return touches
  a.cuts.push(atA)
  b.cuts.push(atB)
  return true
}

function touch({ ends, cuts }: Edge, lng: number, lat: number): boolean {
  if (distance(lng, lat, ...ends) > TOLERANCE_UNITS) return false
  cuts.push(shareAt(lng, lat, ...ends))
  return true
}

/** The share of an edge's length that is nearest to a position. */
function shareAt(
  lng: number,
  lat: number,
  lng1: number,
  lat1: number,
  lng2: number,
  lat2: number,
): number {
  const [lngSpan, latSpan] = [lng2 - lng1, lat2 - lat1]
  const square = lngSpan * lngSpan + latSpan * latSpan
  if (square === 0) return 0
  const share = ((lng - lng1) * lngSpan + (lat - lat1) * latSpan) / square
  return Math.min(1, Math.max(0, share))
}

/** How far a position is from an edge, in units on the flat map. */
function distance(
  lng: number,
  lat: number,
  lng1: number,
  lat1: number,
  lng2: number,
  lat2: number,
): number {
  const share = shareAt(lng, lat, lng1, lat1, lng2, lat2)
  return Math.hypot(lng1 + share * (lng2 - lng1) - lng, lat1 + share * (lat2 - lat1) - lat)
}

/** The parts of an edge between its cuts. */
function partsOf(ends: Edge['ends'], cuts: readonly number[]): Edge['ends'][] {
  const [lng1, lat1, lng2, lat2] = ends
  const at = (share: number): [number, number] =>
    share === 1 ? [lng2, lat2] : [lng1 + share * (lng2 - lng1), lat1 + share * (lat2 - lat1)]
  const shares = [0, ...cuts.filter((share) => share > 0 && share < 1), 1].sort((a, b) => a - b)
  return shares.slice(1).map((share, i) => [...at(shares[i]), ...at(share)])
}
