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
import { emptyPolygons, fillBounds, type Polygons } from './polygons.js'

/**
 * Rings stay where they lie until all of them are known, and are then copied once.
 */
export class PolygonList {
  /** The longitudes and latitudes that each ring is among. */
  readonly #sources: ArrayLike<number>[] = []
  /** Three numbers a ring: the vertices [start, end) there, and how many of them run back as a line. */
  readonly #ranges: number[] = []
  /** How many rings there are when each polygon ends. */
  readonly #polygonEnds: number[] = []
  #vertexCount = 0

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
      this.endPolygon()
    }
  }

  /**
   * Adds a line, or a single point, which holds what lies exactly on it: a ring that runs along it
   * and back is crossed an even number of times from anywhere, and is all boundary.
   */
  addLine(line: UnitRing): void {
    this.add(thereAndBack(line), [])
  }

  /** The same for the vertices [start, end) of `source`, two at least, as `addRing` takes them. */
  addLineOf(source: ArrayLike<number>, start: number, end: number): void {
    this.#addPart(source, start, end, end - start - 2)
    this.endPolygon()
  }

  /**
   * Adds a ring of the polygon that is ended next: the vertices [start, end) of `source`, which must
   * not change before `polygons` is called. All their longitudes must be a unit or more within ±180.
   */
  addRing(source: ArrayLike<number>, start: number, end: number): void {
    this.#addPart(source, start, end, 0)
  }

  /** Adds polygons that another list has made; they must not change before `polygons` is called. */
  addAll({ vertices, ringStarts, polygonStarts }: Polygons): void {
    for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
      for (let ring = polygonStarts[polygon]; ring < polygonStarts[polygon + 1]; ring++) {
        this.addRing(vertices, ringStarts[ring], ringStarts[ring + 1])
      }
      this.endPolygon()
    }
  }

  endPolygon(): void {
    this.#polygonEnds.push(this.#sources.length)
  }

  get polygonCount(): number {
    return this.#polygonEnds.length
  }

  get vertexCount(): number {
    return this.#vertexCount
  }

  polygons(): Polygons {
    const ringCount = this.#sources.length
    const polygons = emptyPolygons(this.#vertexCount, ringCount, this.#polygonEnds.length)
    const { vertices, ringStarts, polygonStarts } = polygons
    let to = 0
    for (let ring = 0; ring < ringCount; ring++) {
      const source = this.#sources[ring]
      const start = 2 * this.#ranges[3 * ring]
      const end = 2 * this.#ranges[3 * ring + 1]
      for (let from = start; from < end; from++) vertices[to++] = source[from]
      const backEnd = end - 2 - 2 * this.#ranges[3 * ring + 2]
      for (let from = end - 4; from >= backEnd; from -= 2) {
        vertices[to++] = source[from]
        vertices[to++] = source[from + 1]
      }
      ringStarts[ring + 1] = to / 2
    }
    for (let polygon = 0; polygon < this.#polygonEnds.length; polygon++) {
      polygonStarts[polygon + 1] = this.#polygonEnds[polygon]
    }
    fillBounds(polygons)
    return polygons
  }

  #addPart(source: ArrayLike<number>, start: number, end: number, backCount: number): void {
    this.#sources.push(source)
    this.#ranges.push(start, end, backCount)
    this.#vertexCount += end - start + backCount
  }

  #push(ring: UnitRing): void {
    this.addRing(ring, 0, ring.length / 2)
  }
}
