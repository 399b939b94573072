/**
 * The cells of a tile of a web Mercator map. Each of them is a tile by itself, so many zooms further.
 *
 * A place on an edge belongs to the cell east or south of it, as the numbers of tiles have it. All edges are
 * found once, in whole units: a recipient is then compared with whole numbers, and never projected.
 *
 * @module
 */
import { HALF_TURN, UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { Shard } from '../layout.js'
import type { Cells, TileGrid } from './grid.js'

export class TileCells implements Cells {
  readonly #grid: TileGrid
  readonly #side: number
  /** Column `i` has the longitudes from entry `i` up to, and without, entry `i + 1`. */
  readonly #lngs: Float64Array
  /** Row `i`, from the north, has the latitudes above entry `i + 1` up to entry `i`. */
  readonly #lats: Float64Array

  constructor(grid: TileGrid) {
    const { zoom, x, y, depth } = grid
    this.#grid = grid
    this.#side = 2 ** depth
    const edges = [...Array(this.#side + 1).keys()]
    this.#lngs = Float64Array.from(edges, (at) => firstLng(x * this.#side + at, zoom + depth))
    this.#lats = Float64Array.from(edges, (at) => lastLat(y * this.#side + at, zoom + depth))
  }

  count({ coords }: Pick<Shard, 'coords'>, runs: Uint32Array): Float64Array {
    const side = this.#side
    const [lngs, lats] = [this.#lngs, this.#lats]
    const counts = countsOf(side)
    let [column, row] = [0, 0]
    for (let run = 0; run < runs.length; run += 2) {
      for (let at = 2 * runs[run]; at < 2 * runs[run + 1]; at += 2) {
        // Both are the same meridian, which is where the map begins.
        const lng = coords[at] === HALF_TURN ? -HALF_TURN : coords[at]
        const lat = coords[at + 1]
        // Whoever is near in the order of a shard is mostly near on the map.
        if (!(lng >= lngs[column] && lng < lngs[column + 1])) {
          if (lng < lngs[0] || lng >= lngs[side]) continue
          column = columnOf(lngs, lng)
        }
        if (!(lat <= lats[row] && lat > lats[row + 1])) {
          if (lat > lats[0] || lat <= lats[side]) continue
          row = rowOf(lats, lat)
        }
        counts[row * side + column]++
      }
    }
    return pairsOf(counts)
  }

  nameOf(cell: number): string {
    const { zoom, depth } = this.#grid
    const { column, row } = this.#placeOf(cell)
    return `${zoom + depth}/${column}/${row}`
  }

  areaOf(cell: number): number[][][][] {
    const { zoom, depth } = this.#grid
    const { column, row } = this.#placeOf(cell)
    const [west, east] = [column, column + 1].map((edge) => lngOfEdge(edge, zoom + depth))
    const [north, south] = [row, row + 1].map((edge) => latOfEdge(edge, zoom + depth))
    return [
      [
        [
          [west, south],
          [east, south],
          [east, north],
          [west, north],
          [west, south],
        ],
      ],
    ]
  }

  /** Among all cells of the map. */
  #placeOf(cell: number): { column: number; row: number } {
    const { x, y } = this.#grid
    const side = this.#side
    return { column: x * side + (cell % side), row: y * side + Math.floor(cell / side) }
  }
}

/** The first longitude that is not west of an edge: 360 degrees are 2 ** zoom columns, and exact. */
function firstLng(edge: number, zoom: number): number {
  const product = BigInt(2 * HALF_TURN) * BigInt(edge)
  const shift = BigInt(zoom)
  const whole = product >> shift
  const isOnUnit = whole << shift === product
  return Number(whole) + (isOnUnit ? 0 : 1) - HALF_TURN
}

/** The last latitude that is not north of an edge. */
function lastLat(edge: number, zoom: number): number {
  return Math.floor(latOfEdge(edge, zoom) * UNITS_PER_DEGREE)
}

function lngOfEdge(edge: number, zoom: number): number {
  return (360 * edge) / 2 ** zoom - 180
}

/** Exactly 0 at the equator, the only edge at a whole number of units. */
function latOfEdge(edge: number, zoom: number): number {
  const turn = Math.PI * (1 - (2 * edge) / 2 ** zoom)
  return (Math.atan(Math.sinh(turn)) * 180) / Math.PI
}

/** @param lng  within the edges */
function columnOf(edges: Float64Array, lng: number): number {
  let low = 0
  let high = edges.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (edges[middle] <= lng) low = middle
    else high = middle
  }
  return low
}

/** @param lat  within the edges */
function rowOf(edges: Float64Array, lat: number): number {
  let low = 0
  let high = edges.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (edges[middle] >= lat) low = middle
    else high = middle
  }
  return low
}

let zeros = new Uint32Array(0)

/** A zero for each cell, in memory that is used again. */
function countsOf(side: number): Uint32Array {
  if (zeros.length < side * side) zeros = new Uint32Array(side * side)
  return zeros.subarray(0, side * side).fill(0)
}

function pairsOf(counts: Uint32Array): Float64Array {
  let filledCount = 0
  for (const count of counts) if (count > 0) filledCount++
  const pairs = new Float64Array(2 * filledCount)
  let at = 0
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue
    pairs[at++] = cell
    pairs[at++] = counts[cell]
  }
  return pairs
}
