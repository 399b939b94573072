/**
 * Polygons as they are collected, ring by ring, each where it meets the globe.
 *
 * @module
 */
import { GLOBE, lngRange, movesOfRing, overlapOf, type UnitRing } from './antimeridian.js'
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
    const range = lngRange(shell)
    for (const move of movesOfRing(shell, GLOBE)) {
      this.#push(shell, move)
      const onto = overlapOf({ min: range.min + move, max: range.max + move }, GLOBE)
      for (const hole of holes) {
        for (const holeMove of movesOfRing(hole, onto)) this.#push(hole, holeMove)
      }
      this.#polygonStarts.push(this.#ringStarts.length - 1)
    }
  }

  /**
   * Adds a line, or a single point, which holds what lies exactly on it: a ring that runs along it
   * and back is crossed an even number of times from anywhere, and is all boundary.
   */
  addLine(line: UnitRing): void {
    const there = [...line]
    for (let i = line.length - 4; i >= 2; i -= 2) there.push(line[i], line[i + 1])
    this.add(there, [])
  }

  get vertexCount(): number {
    return this.#vertices.length / 2
  }

  polygons(): Polygons {
    return toPolygons(this.#vertices, this.#ringStarts, this.#polygonStarts)
  }

  #push(ring: UnitRing, move: number): void {
    for (let i = 0; i < ring.length; i += 2) this.#vertices.push(ring[i] + move, ring[i + 1])
    this.#ringStarts.push(this.#vertices.length / 2)
  }
}
