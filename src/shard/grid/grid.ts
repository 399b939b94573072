/**
 * Grids: the earth, or a part of it, in cells. Everybody on it is in exactly one of them.
 *
 * @module
 */
import type { Shard } from '../layout.js'

/** A grid as it crosses threads and machines: plain data. */
export type Grid = TileGrid | H3Grid

/** A tile of a web Mercator map in `2 ** depth` rows and as many columns. */
export interface TileGrid {
  readonly kind: 'tile'
  readonly zoom: number
  readonly x: number
  readonly y: number
  readonly depth: number
}

/** The whole earth, in the hexagons and twelve pentagons of H3. */
export interface H3Grid {
  readonly kind: 'h3'
  readonly resolution: number
}

/** A cell is a whole number of at most 53 bits. */
export interface Cells {
  /**
   * @param runs  [start, end) pairs of indexes of recipients
   * @returns cells and how many recipients are in each, in turn; whoever is beyond the grid is in none
   */
  count(positions: Pick<Shard, 'coords'>, runs: Uint32Array): Float64Array
  /** How everybody else names a cell. */
  nameOf(cell: number): string
  /** [longitude, latitude] in degrees, closed and counterclockwise, as a MultiPolygon of GeoJSON. */
  areaOf(cell: number): number[][][][]
}
