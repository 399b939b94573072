/**
 * Polygons as they were drawn: each once, not once for each whole turn at which it meets the globe.
 *
 * @module
 */
import { HALF_TURN, UNITS_PER_TURN } from '../units.js'
import { closedBeyondPole, movedRing, type UnitRing } from './antimeridian.js'
import { type Polygons, ringsOf } from './polygons.js'

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
  const drawn: { shell: UnitRing; turn: number; holes: UnitRing[] }[] = []
  for (let polygon = 0; polygon + 1 < polygons.polygonStarts.length; polygon++) {
    const [shell, ...holes] = ringsOf(polygons, polygon).map(atFirstTurn)
    const last = drawn.at(-1)
    const isNext = last !== undefined && shell.turn > last.turn && isSame(shell.ring, last.shell)
    if (!isNext) drawn.push({ shell: shell.ring, turn: shell.turn, holes: [] })
    const own = drawn[drawn.length - 1]
    own.turn = shell.turn
    for (const { ring } of holes) {
      if (!own.holes.some((known) => isSame(ring, known))) own.holes.push(ring)
    }
  }
  return drawn
}

/** A ring moved so that its first vertex lies on the globe, and by how many turns that was. */
function atFirstTurn(vertices: number[]): { ring: UnitRing; turn: number } {
  const ring = closedBeyondPole(vertices)
  if (ring.isPolar === true) return { ring, turn: 0 }
  const turn = Math.floor((ring[0] + HALF_TURN) / UNITS_PER_TURN)
  return { ring: movedRing(ring, -turn), turn }
}

/** Whether two rings are one at two turns, of which each may have rounded what is finer than a unit. */
function isSame(a: UnitRing, b: UnitRing): boolean {
  return (
    a.length === b.length &&
    a.every((value, i) => (i % 2 === 0 ? Math.abs(value - b[i]) < ROUNDED_UNITS : value === b[i]))
  )
}

const ROUNDED_UNITS = 1e-3
