/**
 * Polygons as they are collected, ring by ring, each where it meets the globe.
 *
 * @module
 */
import {
  GLOBE,
  lngRange,
  movedRing,
  overlapOf,
  thereAndBack,
  turnsOfRing,
  type UnitRing,
} from './antimeridian.js'
import { type Polygons, toPolygons } from './polygons.js'

export class PolygonList {
  readonly #vertices: number[] = []
  readonly #ringStarts: number[] = [0]
  readonly #polygonStarts: number[] = [0]

  /**
   * Adds a polygon: one for each whole turn at which its shell meets the globe, each with its holes
   * at every turn at which they meet that shell.
   */
  add(shell: UnitRing, holes: readonly UnitRing[]): void {
    for (const turn of turnsOfRing(shell, GLOBE)) {
      const moved = movedRing(shell, turn)
      this.#push(moved)
      const onto = holes.length > 0 ? overlapOf(lngRange(moved), GLOBE) : GLOBE
      for (const hole of holes) {
        for (const holeTurn of turnsOfRing(hole, onto)) this.#push(movedRing(hole, holeTurn))
      }
      this.#polygonStarts.push(this.#ringStarts.length - 1)
    }
  }

  /**
   * Adds a line, or a single point, which holds what lies exactly on it: a ring that runs along it
   * and back is crossed an even number of times from anywhere, and is all boundary.
   */
  addLine(line: UnitRing): void {
    this.add(thereAndBack(line), [])
  }

  get vertexCount(): number {
    return this.#vertices.length / 2
  }

  polygons(): Polygons {
    return toPolygons(this.#vertices, this.#ringStarts, this.#polygonStarts)
  }

  #push(ring: UnitRing): void {
    for (let i = 0; i < ring.length; i += 2) this.#vertices.push(ring[i], ring[i + 1])
    this.#ringStarts.push(this.#vertices.length / 2)
  }
}
