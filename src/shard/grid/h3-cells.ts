/**
 * The cells of H3 of one resolution. Who is in which cell is what h3 itself says of the place.
 *
 * To ask h3 takes a microsecond, so it is asked of the corners of a box first: neighbours in the order of a shard
 * are neighbours on the ground. On one face of its icosahedron, a cell is a hexagon of great circles (h3 rounds in a
 * plane of the gnomonic projection). If such a cell has the corners of a box of great circles, it has the box. A box
 * of two meridians and two parallels is in one whose side towards the equator lies a little further out, since
 * great circles bend towards the poles.
 *
 * @module
 */
import { cellToBoundary, getIcosahedronFaces, latLngToCell } from 'h3-js'
import { GLOBE, movedRing, turnsOfRing, unwrapRing } from '../../geometry/polygon/antimeridian.js'
import { clippedToGlobe } from '../../geometry/polygon/clip-to-globe.js'
import { doubleArea } from '../../geometry/polygon/simple-loops.js'
import { RADIANS_PER_UNIT, UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { Shard } from '../layout.js'
import type { Cells, H3Grid } from './cells.js'

export class H3Cells implements Cells {
  readonly #resolution: number
  /** No box that is wider or higher can lie in one cell. */
  readonly #widestUnits: number
  /** Whether a cell lies on one face; of those that were asked for lately. */
  readonly #isOnOneFace = new Map<string, boolean>()

  constructor({ resolution }: H3Grid) {
    this.#resolution = resolution
    this.#widestUnits = WIDEST_UNITS / Math.sqrt(7) ** resolution
  }

  count({ coords }: Pick<Shard, 'coords'>, runs: Uint32Array): Float64Array {
    const counts = new Map<string, number>()
    const add = (cell: string, count: number) => counts.set(cell, (counts.get(cell) ?? 0) + count)
    for (let run = 0; run < runs.length; run += 2) {
      this.#countRun(coords, runs[run], runs[run + 1], add)
    }
    const pairs = new Float64Array(2 * counts.size)
    let at = 0
    for (const [name, count] of counts) {
      pairs[at++] = cellOf(name)
      pairs[at++] = count
    }
    return pairs
  }

  nameOf(cell: number): string {
    const high = (MODE_BITS + this.#resolution) * 2 ** 20 + Math.floor(cell / 2 ** 32)
    return high.toString(16) + (cell % 2 ** 32).toString(16).padStart(8, '0')
  }

  areaOf(cell: number): number[][][][] {
    const corners = cellToBoundary(this.nameOf(cell), true).slice(0, -1)
    const units = corners.flatMap(([lng, lat]) => [unitsOf(lng), unitsOf(lat)])
    const ring = unwrapRing({
      units,
      lngDegreesAt: (vertex) => units[2 * vertex] / UNITS_PER_DEGREE,
    })
    // No cell is as wide as that, or round both poles.
    if (typeof ring === 'string') return [[closed(units)]]
    return turnsOfRing(ring, GLOBE)
      .map((turn) => clippedToGlobe(movedRing(ring, turn)))
      .filter((part) => part.length >= 6 && doubleArea(part) !== 0)
      .map((part) => [closed(part)])
  }

  #countRun(
    coords: Int32Array,
    start: number,
    end: number,
    add: (cell: string, count: number) => void,
  ): void {
    if (end - start < BOX_COUNT) {
      for (let at = start; at < end; at++) add(this.#at(coords[2 * at], coords[2 * at + 1]), 1)
      return
    }
    const cell = this.#cellOfAll(coords, start, end)
    if (cell !== undefined) {
      add(cell, end - start)
      return
    }
    const middle = (start + end) >> 1
    this.#countRun(coords, start, middle, add)
    this.#countRun(coords, middle, end, add)
  }

  /** The cell that everybody of a run is in; undefined where there is none, or that is not certain. */
  #cellOfAll(coords: Int32Array, start: number, end: number): string | undefined {
    let [minLng, minLat] = [coords[2 * start], coords[2 * start + 1]]
    let [maxLng, maxLat] = [minLng, minLat]
    for (let at = 2 * start + 2; at < 2 * end; at += 2) {
      const lng = coords[at]
      const lat = coords[at + 1]
      if (lng < minLng) minLng = lng
      else if (lng > maxLng) maxLng = lng
      if (lat < minLat) minLat = lat
      else if (lat > maxLat) maxLat = lat
    }
    const widest = this.#widestUnits
    if (maxLat - minLat > widest) return undefined
    const farthest = Math.max(Math.abs(minLat), Math.abs(maxLat)) * RADIANS_PER_UNIT
    if (farthest > NEAR_POLE) return undefined
    if ((maxLng - minLng) * Math.cos(farthest) > widest) return undefined
    // How far a great circle bends from a parallel of its ends: less than the square of half its span, in radians.
    const half = (RADIANS_PER_UNIT * (maxLng - minLng)) / 2
    const bend = (half * half) / RADIANS_PER_UNIT + MARGIN_UNITS
    const south = minLat - (minLat > 0 ? bend : MARGIN_UNITS)
    const north = maxLat + (maxLat < 0 ? bend : MARGIN_UNITS)
    const west = minLng - MARGIN_UNITS / Math.cos(farthest)
    const east = maxLng + MARGIN_UNITS / Math.cos(farthest)
    const cell = this.#at(west, south)
    if (this.#at(east, north) !== cell) return undefined
    if (this.#at(west, north) !== cell || this.#at(east, south) !== cell) return undefined
    return this.#isHexagonOfOneFace(cell) ? cell : undefined
  }

  #at(lng: number, lat: number): string {
    return latLngToCell(lat / UNITS_PER_DEGREE, lng / UNITS_PER_DEGREE, this.#resolution)
  }

  /** Pentagons lie on five. */
  #isHexagonOfOneFace(cell: string): boolean {
    const known = this.#isOnOneFace.get(cell)
    if (known !== undefined) return known
    const isOnOne = getIcosahedronFaces(cell).length === 1
    if (this.#isOnOneFace.size >= CELLS_KNOWN_COUNT) this.#isOnOneFace.clear()
    this.#isOnOneFace.set(cell, isOnOne)
    return isOnOne
  }
}

/** Of fewer recipients in a row h3 is asked one by one: a box has four corners. */
const BOX_COUNT = 8
/** A centimetre: far more than any rounding of h3 itself. */
const MARGIN_UNITS = 1
/** In radians: 80 degrees. Beyond, boxes of meridians and parallels are no boxes. */
const NEAR_POLE = (80 / 180) * Math.PI
/** Cells of resolution 0 are less than 27 degrees across; each further one is smaller by the root of seven. */
const WIDEST_UNITS = 35 * UNITS_PER_DEGREE
const CELLS_KNOWN_COUNT = 10_000

/** Of 64 bits: none, and the mode of a cell. The resolution follows, and 52 bits that say which cell it is. */
const MODE_BITS = 0x80

function cellOf(name: string): number {
  return (parseInt(name.slice(0, -8), 16) % 2 ** 20) * 2 ** 32 + parseInt(name.slice(-8), 16)
}

function unitsOf(degrees: number): number {
  return Math.round(degrees * UNITS_PER_DEGREE)
}

/** Counterclockwise, which a ring round a pole may not be. */
function closed(units: readonly number[]): number[][] {
  const ring: number[][] = []
  for (let i = 0; i < units.length; i += 2) {
    ring.push([units[i] / UNITS_PER_DEGREE, units[i + 1] / UNITS_PER_DEGREE])
  }
  if (doubleArea(units) < 0) ring.reverse()
  return [...ring, ring[0]]
}
