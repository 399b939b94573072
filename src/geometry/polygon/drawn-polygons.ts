/**
 * Polygons as they were drawn: each once, not once for each whole turn at which it meets the globe.
 *
 * @module
 */
import { UNITS_PER_TURN } from '../units.js'
import { closedBeyondPole, type UnitRing } from './antimeridian.js'
import { type Polygons, ringsOf } from './polygons.js'

/** Its rings are as one of its copies has them, so that no sum has rounded them once more. */
export interface DrawnPolygon {
  readonly shell: UnitRing
  /** Each at some turn. */
  readonly holes: readonly UnitRing[]
}

/**
 * The way back from a `PolygonList`. It has a shell at all its turns, one after the other from west to east, and at
 * each of them the holes that meet the globe there: all of them are holes of the polygon that was drawn.
 */
export function drawnPolygons(polygons: Polygons): DrawnPolygon[] {
  const drawn: { shell: UnitRing; holes: Map<string, UnitRing> }[] = []
  let before: UnitRing | undefined
  for (let polygon = 0; polygon + 1 < polygons.polygonStarts.length; polygon++) {
    const [shell, ...holes] = ringsOf(polygons, polygon).map(closedBeyondPole)
    const isNext = before !== undefined && isFartherEast(shell, before)
    before = shell
    if (!isNext) drawn.push({ shell, holes: new Map() })
    const own = drawn[drawn.length - 1].holes
    for (const hole of holes) {
      const key = placesOf(hole)
      if (!own.has(key)) own.set(key, hole)
    }
  }
  return drawn.map(({ shell, holes }) => ({ shell, holes: [...holes.values()] }))
}

/** Whether a ring is another one, whole turns farther east. */
function isFartherEast(ring: UnitRing, other: UnitRing): boolean {
  if (ring.length !== other.length) return false
  const turns = Math.round((ring[0] - other[0]) / UNITS_PER_TURN)
  if (turns < 1) return false
  const east = turns * UNITS_PER_TURN
  return ring.every((value, i) =>
    i % 2 === 0 ? Math.abs(value - other[i] - east) < ROUNDED_UNITS : value === other[i],
  )
}

/** More than what a move by whole turns does to what is finer than a unit. */
const ROUNDED_UNITS = 1e-3

/**
 * The same for a hole at each of its turns, to the unit. What lies between two units may be rounded to either: such a
 * hole may be there twice, which is the same as once.
 */
function placesOf(ring: UnitRing): string {
  const units = Array.from(ring, Math.round)
  const turns = Math.floor(units[0] / UNITS_PER_TURN)
  return units.map((value, i) => (i % 2 === 0 ? value - turns * UNITS_PER_TURN : value)).join()
}
