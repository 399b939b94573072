/**
 * Which rings contain one another, which cross and which hold the same, exactly.
 *
 * A ring holds what is inside it by even-odd. Two rings make three kinds of places: held by the one
 * alone, by the other alone, and by both. Which of them there are is read beside the edges, where
 * the rings touch: from there to where they touch again, an edge has the same sides throughout. Of
 * rings that do not touch any edge says it.
 *
 * A ring is compared at every whole turn at which it meets the globe.
 *
 * @module
 */

import { type Bounds, boundsOf, emptyBounds, extend } from '../bounds.js'
import { GLOBE, movedRing, overlapOf, turnsOfRing, type UnitRing } from '../polygon/antimeridian.js'
import type { RingBudget } from '../ring-budget.js'
import {
  crosses,
  type EdgeStrips,
  edgeStripsOf,
  forNeighbours,
  highLatOf,
  LEFT,
  lowLatOf,
  maxLngOf,
  minLngOf,
  type Ray,
  RIGHT,
  sideOfEdge,
  stripOf,
} from './edge-strips.js'
import { orderOf } from './order-of.js'

/** Rings by their places in the list. */
export interface RingRelations {
  /** For each ring those that contain it; those that hold the same contain each other. */
  readonly containers: readonly ReadonlySet<number>[]
  /** Rings that hold the same as an earlier one. */
  readonly repeats: ReadonlySet<number>
  readonly crossings: readonly (readonly [ring: number, other: number])[]
  /** Whether a ring crosses itself, or takes too many comparisons to tell. */
  crossesItself(ring: number): boolean
}

/** Nothing when it takes more comparisons than the budget has. */
export function relateRings(
  rings: readonly UnitRing[],
  budget: RingBudget,
): RingRelations | undefined {
  const comparison = new RingComparison(rings, budget)
  comparison.compareEdges()
  comparison.relateTouching()
  comparison.relateApart()
  return comparison.isOverLimit ? undefined : comparison
}

/**
 * Whether no two of several rings meet by their bounds: then none is within another, or like another.
 * Takes as much of the budget as `relateRings` does to find the same, and nothing where bounds meet.
 *
 * @param bounds  of each ring by its index: min lng, min lat, max lng, max lat
 */
export function areApart(
  bounds: Float64Array,
  rings: readonly number[],
  budget: RingBudget,
): boolean {
  const order = orderOf(Float64Array.from(rings, (ring) => bounds[4 * ring]))
  const sorted = new Float64Array(4 * order.length)
  for (let i = 0; i < sorted.length; i++) sorted[i] = bounds[4 * rings[order[i >> 2]] + (i & 3)]
  let cost = 0
  for (let i = 0; i < sorted.length; i += 4) {
    for (let j = i + 4; j < sorted.length && sorted[j] <= sorted[i + 2]; j += 4) {
      cost += BOX_COST
      if (sorted[j + 1] <= sorted[i + 3] && sorted[j + 3] >= sorted[i + 1]) return false
      if (cost > budget.comparisonsLeft) return false
    }
  }
  budget.comparisonsLeft -= cost
  return true
}

/** Kinds of places that two rings make; all three of them are a crossing. */
const ONLY_FIRST = 1
const ONLY_SECOND = 2
const IN_BOTH = 4
const CROSSING = ONLY_FIRST | ONLY_SECOND | IN_BOTH

/** In comparisons: what is found of two edges that meet is kept and looked up by their pair. */
const MEETING_COST = 8

class RingComparison implements RingRelations {
  readonly containers: Set<number>[]
  readonly repeats = new Set<number>()
  readonly crossings: [ring: number, other: number][] = []

  /** The ring that each image, a ring at one whole turn, is of. */
  readonly #owners: number[] = []
  /** Edges of images, of all that come near others. */
  readonly #edges: EdgeStrips
  /** Those edges that come near others themselves. */
  readonly #nearEdges: EdgeStrips
  /** Kinds of places of images that touch, by `#pairOf`. */
  readonly #places = new Map<number, number>()
  readonly #budget: RingBudget
  readonly #rings: readonly UnitRing[]

  constructor(rings: readonly UnitRing[], budget: RingBudget) {
    this.#rings = rings
    this.#budget = budget
    this.containers = rings.map(() => new Set())
    const images = rings.flatMap((ring, owner) =>
      turnsOfRing(ring, GLOBE).map((turn) => {
        this.#owners.push(owner)
        return ring.isPolar === true ? closedApart(ring, owner) : movedRing(ring, turn)
      }),
    )
    // Beyond the globe rings round a pole may cross where there is no place.
    const near = nearBounds(images, budget).map((bounds, image) =>
      rings[this.#owners[image]].isPolar === true ? onGlobe(bounds) : bounds,
    )
    const isNear = (image: number) => near[image].minLng <= near[image].maxLng
    this.#edges = edgeStripsOf(images.map((ring, image) => (isNear(image) ? ring : [])))
    this.#nearEdges = edgeStripsOf(images, near)
  }

  get isOverLimit(): boolean {
    return this.#budget.comparisonsLeft < 0
  }

  compareEdges(): void {
    const { rings } = this.#nearEdges
    forNeighbours(this.#nearEdges, this.#budget, (a, b) => {
      if (this.#owners[rings[a]] !== this.#owners[rings[b]]) this.#meet(a, b)
    })
  }

  relateTouching(): void {
    const imageCount = this.#owners.length
    for (const [pair, places] of this.#places) {
      const first = this.#owners[Math.floor(pair / imageCount)]
      const second = this.#owners[pair % imageCount]
      if (places === CROSSING) this.crossings.push([first, second])
      else if ((places & IN_BOTH) !== 0) {
        if ((places & ONLY_SECOND) === 0) this.containers[second].add(first)
        if ((places & ONLY_FIRST) === 0) this.containers[first].add(second)
        if (places === IN_BOTH) this.repeats.add(second)
      }
    }
  }

  relateApart(): void {
    const isDone = new Set<number>()
    // From a place on the globe, where there is one: rings round a pole are right there.
    for (const isWanted of [isOnGlobe, () => true]) {
      for (let edge = 0; edge < this.#edges.edgeCount && !this.isOverLimit; edge++) {
        const image = this.#edges.rings[edge]
        if (isDone.has(image) || !isWanted(this.#edges.fromLngs[edge])) continue
        isDone.add(image)
        this.#relateImage(image, rayAlong(this.#edges, edge))
      }
    }
  }

  #relateImage(image: number, ray: Ray): void {
    const owner = this.#owners[image]
    for (const container of this.#imagesAround(ray)) {
      const isOther = this.#owners[container] !== owner
      if (!isOther || this.#places.has(this.#pairOf(image, container))) continue
      this.containers[owner].add(this.#owners[container])
    }
  }

  crossesItself(ring: number): boolean {
    const edges = edgeStripsOf([this.#rings[ring]])
    let isCrossed = false
    forNeighbours(edges, this.#budget, (a, b) => {
      isCrossed ||= sidesOfEnds(edges, a, b) === -1 && sidesOfEnds(edges, b, a) === -1
    })
    return isCrossed || this.isOverLimit
  }

  /** Near edges of two images whose bounds overlap. */
  #meet(a: number, b: number): void {
    const edges = this.#nearEdges
    const pair = this.#pairOf(edges.rings[a], edges.rings[b])
    if (this.#places.get(pair) === CROSSING) return
    const ofB = sidesOfEnds(edges, a, b)
    const ofA = ofB === 1 ? 1 : sidesOfEnds(edges, b, a)
    if (ofA === 1) return
    this.#budget.comparisonsLeft -= MEETING_COST
    if (ofA === -1 && ofB === -1) {
      this.#places.set(pair, CROSSING)
      return
    }
    const { fromLngs, fromLats, toLngs, toLats } = edges
    for (const edge of [a, b]) {
      this.#touch(a, b, fromLngs[edge], fromLats[edge], pair)
      this.#touch(a, b, toLngs[edge], toLats[edge], pair)
    }
  }

  /** If a point is on both edges, notes which images hold the places beside them from there. */
  #touch(a: number, b: number, lng: number, lat: number, pair: number): void {
    const edges = this.#nearEdges
    if (!isOnEdge(edges, a, lng, lat) || !isOnEdge(edges, b, lng, lat)) return
    let places = this.#places.get(pair) ?? 0
    for (const edge of [a, b]) {
      const isAtEnd = lng === edges.toLngs[edge] && lat === edges.toLats[edge]
      if (isAtEnd || places === CROSSING) continue
      const ray = { ...rayAlong(edges, edge), lng, lat }
      places |= this.#placeOf(ray, pair) | this.#placeOf({ ...ray, side: RIGHT }, pair)
    }
    this.#places.set(pair, places)
  }

  #placeOf(ray: Ray, pair: number): number {
    const isInFirst = this.#isHeld(ray, Math.floor(pair / this.#owners.length))
    const isInSecond = this.#isHeld(ray, pair % this.#owners.length)
    if (isInFirst) return isInSecond ? IN_BOTH : ONLY_FIRST
    return isInSecond ? ONLY_SECOND : 0
  }

  /** Whether an image holds where a ray starts, by its edges or by those of the strip. */
  #isHeld(ray: Ray, image: number): boolean {
    const { stripStarts, stripEdges, ringStarts, ringEdges, rings } = this.#edges
    const strip = stripOf(this.#edges, ray.lat)
    const isFew =
      ringStarts[image + 1] - ringStarts[image] < stripStarts[strip + 1] - stripStarts[strip]
    const candidates = isFew ? ringEdges : stripEdges
    const [start, end] = isFew
      ? [ringStarts[image], ringStarts[image + 1]]
      : [stripStarts[strip], stripStarts[strip + 1]]
    let isHeld = false
    for (let at = start; at < end; at++) {
      const edge = candidates[at]
      if (minLngOf(this.#edges, edge) > ray.lng || --this.#budget.comparisonsLeft < 0) break
      if (rings[edge] === image && crosses(ray, this.#edges, edge)) isHeld = !isHeld
    }
    return isHeld
  }

  /** All images that hold where a ray starts. */
  #imagesAround(ray: Ray): Set<number> {
    const { stripStarts, stripEdges, rings } = this.#edges
    const images = new Set<number>()
    const strip = stripOf(this.#edges, ray.lat)
    for (let at = stripStarts[strip]; at < stripStarts[strip + 1]; at++) {
      const edge = stripEdges[at]
      if (minLngOf(this.#edges, edge) > ray.lng || --this.#budget.comparisonsLeft < 0) break
      if (crosses(ray, this.#edges, edge) && !images.delete(rings[edge])) images.add(rings[edge])
    }
    return images
  }

  /** One number for two images: the earlier times the count of images, plus the later. */
  #pairOf(image: number, other: number): number {
    return Math.min(image, other) * this.#owners.length + Math.max(image, other)
  }
}

/** The ray that starts left of where an edge begins. */
function rayAlong({ fromLngs, fromLats, toLngs, toLats }: EdgeStrips, edge: number): Ray {
  const towards = { towardsLng: toLngs[edge], towardsLat: toLats[edge] }
  return { lng: fromLngs[edge], lat: fromLats[edge], ...towards, side: LEFT }
}

/** Both ends of `other` on one side of the line of an edge: 1; on either side: -1; on it: 0. */
function sidesOfEnds(edges: EdgeStrips, edge: number, other: number): number {
  const from = sideOfEdge(edges, edge, edges.fromLngs[other], edges.fromLats[other])
  const to = sideOfEdge(edges, edge, edges.toLngs[other], edges.toLats[other])
  return Math.sign(from) * Math.sign(to)
}

function isOnEdge(edges: EdgeStrips, edge: number, lng: number, lat: number): boolean {
  if (lng < minLngOf(edges, edge) || lng > maxLngOf(edges, edge)) return false
  if (lat < lowLatOf(edges, edge) || lat > highLatOf(edges, edge)) return false
  return sideOfEdge(edges, edge, lng, lat) === 0
}

function isOnGlobe(lng: number): boolean {
  return lng >= GLOBE.min && lng <= GLOBE.max
}

function onGlobe(bounds: Bounds): Bounds {
  const { min, max } = overlapOf({ min: bounds.minLng, max: bounds.maxLng }, GLOBE)
  return { ...bounds, minLng: min, maxLng: max }
}

/** A ring round a pole, closed beyond it at a latitude of its own, so that no two touch there. */
function closedApart(ring: UnitRing, owner: number): number[] {
  const isClosing = (value: number, i: number) => i % 2 === 1 && Math.abs(value) > POLE
  return ring.map((value, i) => (isClosing(value, i) ? value + Math.sign(value) * owner : value))
}

const POLE = 9e8

/** The cost of comparing two boxes, in comparisons of edges. */
const BOX_COST = 0.125

/**
 * For each ring what its bounds share with those of all others together; empty if nothing.
 *
 * @param budget  when it is spent the bounds are of no use
 */
function nearBounds(rings: readonly UnitRing[], budget: RingBudget): Bounds[] {
  const bounds = rings.map(boundsOf)
  const near = rings.map(emptyBounds)
  const order = [...orderOf(Float64Array.from(bounds, ({ minLng }) => minLng))]
  // In columns, as in the worst case each ring is compared with each.
  const minLngs = Float64Array.from(order, (ring) => bounds[ring].minLng)
  const minLats = Float64Array.from(order, (ring) => bounds[ring].minLat)
  const maxLats = Float64Array.from(order, (ring) => bounds[ring].maxLat)
  for (let i = 0; i < order.length; i++) {
    const { minLat, maxLng, maxLat } = bounds[order[i]]
    for (let j = i + 1; j < order.length && minLngs[j] <= maxLng; j++) {
      budget.comparisonsLeft -= BOX_COST
      if (budget.comparisonsLeft < 0) return near
      if (minLats[j] > maxLat || maxLats[j] < minLat) continue
      budget.comparisonsLeft--
      for (const ring of [order[i], order[j]]) {
        extend(near[ring], minLngs[j], Math.max(minLat, minLats[j]))
        extend(near[ring], Math.min(maxLng, bounds[order[j]].maxLng), Math.min(maxLat, maxLats[j]))
      }
    }
  }
  return near
}
