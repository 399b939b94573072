/**
 * Whether a ring crosses itself, exactly. What the even-odd rule fills then is hardly what was meant: two points
 * in the wrong order make a bow tie.
 *
 * A ring may touch itself. Where it runs along itself, no crossing is looked for.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import { type EdgeStrips, edgeStripsOf, forNeighbours, sideOfEdge } from '../esri/edge-strips.js'
import type { RingBudget } from '../ring-budget.js'
import { toUnits } from '../units.js'
import { type UnitRing, unwrapRing } from './antimeridian.js'

/**
 * @param ring  closed; longitudes and latitudes in degrees
 * @param budget  shared by all rings of a request; a ring that needs more is too dense to tell
 */
export function crossesItself(
  ring: readonly (readonly number[])[],
  budget: RingBudget,
): boolean | 'TooDense' {
  const open = ring.slice(0, -1)
  const units = open.flatMap(([lng, lat]) => [toUnits(lng), toUnits(lat)])
  const drawn = unwrapRing({ units, lngDegreesAt: (vertex) => open[vertex][0] })
  // What has no one meaning is refused where all shapes are read; what contains a pole has edges beyond it.
  if (typeof drawn === 'string' || drawn.isPolar === true) return false
  const edges = edgeStripsOf([drawn])
  let isCrossed = false
  const touches = new Touches(drawn)
  forNeighbours(edges, budget, (edge, other) => {
    isCrossed ||= relate(edges, edge, other, touches)
  })
  if (isCrossed) return true
  if (budget.comparisonsLeft < 0) return 'TooDense'
  return touches.haveCrossing(budget)
}

/** Whether two edges cross between their ends. Where one ends within the other, that is noted. */
function relate(edges: EdgeStrips, edge: number, other: number, touches: Touches): boolean {
  const { fromLngs, fromLats, toLngs, toLats } = edges
  const [from, to] = [
    [fromLngs[other], fromLats[other]] as const,
    [toLngs[other], toLats[other]] as const,
  ]
  const [ownFrom, ownTo] = [
    [fromLngs[edge], fromLats[edge]] as const,
    [toLngs[edge], toLats[edge]] as const,
  ]
  const a = sideOfEdge(edges, edge, from[0], from[1])
  const b = sideOfEdge(edges, edge, to[0], to[1])
  const c = sideOfEdge(edges, other, ownFrom[0], ownFrom[1])
  const d = sideOfEdge(edges, other, ownTo[0], ownTo[1])
  if (a * b < 0 && c * d < 0) return true
  if (a === 0) touches.within(from, ownFrom, ownTo)
  if (b === 0) touches.within(to, ownFrom, ownTo)
  if (c === 0) touches.within(ownFrom, from, to)
  if (d === 0) touches.within(ownTo, from, to)
  return false
}

type Point = readonly [lng: number, lat: number]

/** A way through a point: from where, and on to where. */
type Pass = readonly [from: Point, to: Point]

/** Vertices where the ring is more than once. */
class Touches {
  readonly #ring: UnitRing
  readonly #passes = new Map<string, Pass[]>()

  constructor(ring: UnitRing) {
    this.#ring = ring
  }

  /** Notes that the ring passes through `point` on its way between two vertices, if it does. */
  within(point: Point, from: Point, to: Point): void {
    if (!isBetween(point, from, to)) return
    const key = keyOf(point)
    const passes = this.#passes.get(key)
    if (passes === undefined) this.#passes.set(key, [[from, to]])
    else passes.push([from, to])
  }

  haveCrossing(budget: RingBudget): boolean | 'TooDense' {
    const points = this.#withVertices()
    for (const [point, passes] of points) {
      for (const [i, pass] of passes.entries()) {
        for (let j = 0; j < i; j++) {
          if (--budget.comparisonsLeft < 0) return 'TooDense'
          if (arePassing(point, pass, passes[j])) return true
        }
      }
    }
    return false
  }

  /** All points that the ring passes more than once. */
  #withVertices(): readonly (readonly [Point, readonly Pass[]])[] {
    const vertices = different(this.#ring)
    const all = new Map<string, [Point, Pass[]]>()
    for (const [i, vertex] of vertices.entries()) {
      const key = keyOf(vertex)
      const pass: Pass = [vertices.at(i - 1) as Point, vertices[(i + 1) % vertices.length]]
      const known = all.get(key)
      if (known === undefined) all.set(key, [vertex, [pass, ...(this.#passes.get(key) ?? [])]])
      else known[1].push(pass)
    }
    return [...all.values()].filter(([, passes]) => passes.length > 1)
  }
}

/** Without vertices that repeat the one before. */
function different(ring: UnitRing): readonly Point[] {
  const points: Point[] = []
  for (let i = 0; i < ring.length; i += 2) {
    const before = i === 0 ? ring.length - 2 : i - 2
    if (ring[i] !== ring[before] || ring[i + 1] !== ring[before + 1])
      points.push([ring[i], ring[i + 1]])
  }
  return points
}

/** Of a point on the line of an edge. */
function isBetween(point: Point, from: Point, to: Point): boolean {
  const axis = from[0] === to[0] ? 1 : 0
  return (
    (from[axis] < point[axis] && point[axis] < to[axis]) ||
    (to[axis] < point[axis] && point[axis] < from[axis])
  )
}

/** Whether one way through a point leads from one side of the other way to its other side. */
function arePassing(at: Point, [from, to]: Pass, [otherFrom, otherTo]: Pass): boolean {
  const [a, b] = [sectorOf(at, from, to, otherFrom), sectorOf(at, from, to, otherTo)]
  return a * b < 0
}

/** 1 where `point` is seen within the turn from `from` to `to`, counterclockwise, -1 beyond, 0 on either way. */
function sectorOf(at: Point, from: Point, to: Point, point: Point): number {
  if (isSameWay(at, from, point) || isSameWay(at, to, point)) return 0
  const turn = turnOf(at, from, to)
  if (turn > 0) return turnOf(at, from, point) > 0 && turnOf(at, point, to) > 0 ? 1 : -1
  if (turn < 0) return turnOf(at, to, point) > 0 && turnOf(at, point, from) > 0 ? -1 : 1
  // There and back is no way through.
  if (isSameWay(at, from, to)) return 0
  return turnOf(at, from, point)
}

function isSameWay(at: Point, one: Point, other: Point): boolean {
  if (turnOf(at, one, other) !== 0) return false
  const axis = one[0] === at[0] ? 1 : 0
  return one[axis] > at[axis] === other[axis] > at[axis]
}

/** Positive where `other` is counterclockwise of `one`, less than half a turn. */
function turnOf(at: Point, one: Point, other: Point): number {
  return -orient2d(at[0], at[1], one[0], one[1], other[0], other[1])
}

function keyOf([lng, lat]: Point): string {
  return `${lng},${lat}`
}
