/**
 * Esri JSON has the rings of a polygon in one list, and does not say which of them are holes.
 *
 * Rings that lie within one another or apart say it by their depth, whatever their winding: the
 * outermost are shells, those directly inside are holes of every shell above that contains them,
 * those inside these are shells again. They may touch in points and along edges, and one that holds
 * the same as another counts once. A ring holds what is inside it by even-odd, so one that crosses
 * itself takes part like any other.
 *
 * Rings that cross one another are two shells if both run clockwise, as Esri has its shells, lie
 * where shells do and cross nothing of their own; otherwise they have no one meaning. Edges that
 * pass through one another are a crossing even where both sides of one are alike, as along a bridge
 * from a ring to its own hole, or along a ring without area. A ring without area that crosses none
 * holds what lies on it.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'
import type { UnitRing } from '../polygon/antimeridian.js'
import { type RingBudget, ringBudget } from '../ring-budget.js'
import { withoutRepeats } from './repeated-rings.js'
import { type RingRelations, relateRings } from './ring-relations.js'

interface RingPolygon {
  readonly shell: UnitRing
  readonly holes: readonly UnitRing[]
}

/** Why rings have no one meaning, or that they take too long to compare. */
export type NestingFault = 'CrossingRings' | 'TooManyComparisons'

/**
 * The polygons that a list of rings makes up, together with their boundaries.
 *
 * @param rings  each with three different vertices or more, in continuous longitudes
 */
export function nestRings(
  rings: readonly UnitRing[],
  budget: RingBudget = ringBudget(),
): RingPolygon[] | NestingFault {
  const distinct = withoutRepeats(rings)
  if (distinct.length <= 1) return distinct.map((shell) => ({ shell, holes: [] }))
  const relations = relateRings(distinct, budget)
  if (relations === undefined) return 'TooManyComparisons'
  const levels = levelsOf(relations)
  const isShell = (ring: number) =>
    levels[ring] % 2 === 0 &&
    // Round a pole, winding says nothing.
    distinct[ring].isPolar !== true &&
    isClockwise(distinct[ring]) &&
    !relations.crossesItself(ring)
  if (![...new Set(relations.crossings.flat())].every(isShell)) return 'CrossingRings'
  return polygonsOf(distinct, relations, levels)
}

/** Shells have even levels, holes odd ones: one more than the greatest of what contains them. */
function levelsOf({ containers, repeats }: RingRelations): Uint32Array {
  const levels = new Uint32Array(containers.length)
  // A ring that contains another one is contained in fewer itself.
  const outermostFirst = [...containers.keys()].sort(
    (a, b) => containers[a].size - containers[b].size,
  )
  for (const ring of outermostFirst) {
    if (repeats.has(ring)) continue
    for (const container of containers[ring]) {
      if (repeats.has(container)) continue
      levels[ring] = Math.max(levels[ring], levels[container] + 1)
    }
  }
  return levels
}

function polygonsOf(
  rings: readonly UnitRing[],
  { containers, repeats }: RingRelations,
  levels: Uint32Array,
): RingPolygon[] {
  const holes: UnitRing[][] = rings.map(() => [])
  rings.forEach((ring, i) => {
    if (levels[i] % 2 === 0 || repeats.has(i)) return
    for (const container of containers[i]) {
      if (levels[container] + 1 === levels[i]) holes[container].push(ring)
    }
  })
  return rings
    .map((shell, i) => ({ shell, holes: holes[i] }))
    .filter((_, i) => levels[i] % 2 === 0 && !repeats.has(i))
}

/** Whether a ring that does not cross itself turns right wherever it is at its lowest, leftmost. */
function isClockwise(ring: UnitRing): boolean {
  let lowest = 0
  for (let i = 2; i < ring.length; i += 2) {
    if (ring[i + 1] < ring[lowest + 1]) lowest = i
    else if (ring[i + 1] === ring[lowest + 1] && ring[i] < ring[lowest]) lowest = i
  }
  for (let i = lowest; i < ring.length; i += 2) {
    if (isSameVertex(ring, i, lowest) && !turnsRight(ring, i)) return false
  }
  return true
}

function turnsRight(ring: UnitRing, at: number): boolean {
  const before = otherVertex(ring, at, -2)
  const after = otherVertex(ring, at, 2)
  // The library counts clockwise as positive.
  return (
    orient2d(ring[before], ring[before + 1], ring[at], ring[at + 1], ring[after], ring[after + 1]) >
    0
  )
}

/** The next vertex that lies elsewhere. */
function otherVertex(ring: UnitRing, at: number, step: number): number {
  let other = at
  do other = (other + step + ring.length) % ring.length
  while (isSameVertex(ring, other, at))
  return other
}

function isSameVertex(ring: UnitRing, a: number, b: number): boolean {
  return ring[a] === ring[b] && ring[a + 1] === ring[b + 1]
}
