/**
 * A boundary on the Earth as it is followed, in continuous longitudes, with what it bounds to its
 * left.
 *
 * @module
 */
import { EARTH_RADIUS_METRES } from '../great-circle.js'
import { UNITS_PER_TURN } from '../units.js'
import { angleBetween, positionOf, type Vector, vectorAt } from './vectors.js'

/** A closed boundary in whole units; its first vertex is not repeated. */
export interface BoundaryPath {
  readonly ring: readonly number[]
  /** How often it goes round the globe, counted eastwards: 1, 0 or -1. */
  readonly turns: number
  /** Whether what is to its left is outside of the ring, both poles with it. */
  readonly isOutside: boolean
}

/** A smooth piece of a boundary. */
export interface Curve {
  readonly at: (parameter: number) => Vector
  /** Parameters of vertices, from its beginning to its end. */
  readonly stops: readonly number[]
}

export class PathBuilder {
  readonly #deviation: (place: Vector) => number
  readonly #tolerance: number
  readonly #ring: number[] = []
  /** The last vertex before rounding, and the first. */
  #lng = 0
  #lat = 0
  #firstLng = 0
  #firstLat = 0
  /** By how many whole turns the last vertex was moved. */
  #turns = 0
  /** Twice the area of the ring in square units, before rounding; positive if it is to the left. */
  #doubleArea = 0

  /**
   * @param deviation  by how many radians a place is off the boundary
   * @param toleranceMetres  by how much an edge may be
   */
  constructor(deviation: (place: Vector) => number, toleranceMetres: number) {
    this.#deviation = deviation
    this.#tolerance = (SHARE_OF_EDGES * toleranceMetres) / EARTH_RADIUS_METRES
  }

  /** Goes straight to a position in units, by the short way. */
  to(position: readonly [lng: number, lat: number]): void {
    if (this.#ring.length > 0) this.#turns = turnsTo(position[0], this.#lng)
    const lng = position[0] + this.#turns * UNITS_PER_TURN
    if (this.#ring.length === 0) {
      this.#firstLng = lng
      this.#firstLat = position[1]
    } else {
      this.#doubleArea +=
        (this.#lng - this.#firstLng) * (position[1] - this.#firstLat) -
        (lng - this.#firstLng) * (this.#lat - this.#firstLat)
    }
    this.#lng = lng
    this.#lat = position[1]
    // Rounded before it is moved by whole turns, so that paths that share a vertex really do.
    const lngUnits = Math.round(position[0]) + this.#turns * UNITS_PER_TURN
    const latUnits = Math.round(position[1])
    const { length } = this.#ring
    if (this.#ring[length - 2] === lngUnits && this.#ring[length - 1] === latUnits) return
    this.#ring.push(lngUnits, latUnits)
  }

  /** Goes along a curve, with as many vertices between its stops as keep edges within tolerance. */
  follow({ at, stops }: Curve): void {
    this.to(positionOf(at(stops[0])))
    for (let i = 1; i < stops.length; i++) this.#refine(at, stops[i - 1], stops[i], DEPTH_MAX)
  }

  /** Ends where it began. */
  close(): BoundaryPath {
    const ring = this.#ring
    // It ends where it began, so that the quotient is a whole number but for rounding.
    const turns = Math.round((this.#lng - this.#firstLng) / UNITS_PER_TURN)
    const last = ring.length - 2
    // Vertices are whole units, and sums of these exact.
    const isBack = ring[last] === ring[0] + turns * UNITS_PER_TURN && ring[last + 1] === ring[1]
    if (isBack && last > 0) ring.length = last
    // An area that holds both poles and goes round neither is left of a ring that runs clockwise round
    // everything else. That is wider than the tolerance: far from the area of nothing.
    const holdsPoles = POLES.every((pole) => this.#deviation(pole) < POLE_SLACK)
    return { ring, turns, isOutside: turns === 0 && holdsPoles && this.#doubleArea < 0 }
  }

  #refine(at: (parameter: number) => Vector, from: number, to: number, depth: number): void {
    const end = positionOf(at(to))
    if (depth === 0 || this.#isNear(end)) {
      this.to(end)
      return
    }
    const middle = (from + to) / 2
    this.#refine(at, from, middle, depth - 1)
    this.#refine(at, middle, to, depth - 1)
  }

  /** Whether an edge from the last vertex to a position stays within tolerance of the boundary. */
  #isNear(end: readonly [lng: number, lat: number]): boolean {
    const lngSpan = end[0] + turnsTo(end[0], this.#lng) * UNITS_PER_TURN - this.#lng
    const latSpan = end[1] - this.#lat
    const isWithin = [0.25, 0.5, 0.75].every((share) => {
      const place = vectorAt(this.#lng + share * lngSpan, this.#lat + share * latSpan)
      return Math.abs(this.#deviation(place)) <= this.#tolerance
    })
    if (isWithin) return true
    // Beside a pole every edge runs far round it, and yet hardly anywhere.
    const length = angleBetween(vectorAt(this.#lng, this.#lat), vectorAt(end[0], end[1]))
    return length <= this.#tolerance / 4
  }
}

const POLES: readonly Vector[] = [
  [0, 0, 1],
  [0, 0, -1],
]
/** A pole may lie on the very boundary; what comes so near to both is never small. */
const POLE_SLACK = 1e-6
/** The share of a tolerance that edges have after vertices are rounded and lines are simplified. */
const SHARE_OF_EDGES = 0.6
/** Halvings of a curve: a millionth of a millionth of it. */
const DEPTH_MAX = 40

/**
 * By how many whole turns to move a longitude to within half a turn of another. Half a turn away, by
 * rounding, either way is as short.
 */
function turnsTo(lng: number, other: number): number {
  return Math.round((other - lng) / UNITS_PER_TURN)
}
