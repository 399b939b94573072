/**
 * Where on the Earth rejected rows are whose position could be used: how many in each cell of a fixed
 * grid. The positions themselves are not kept, because they are personal data.
 *
 * @module
 */
import { HALF_TURN, POLE_UNITS, UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { Box } from '../../shard/layout.js'

/** The number of a cell, row by row from the south, each from -180 degrees; or `NO_CELL`. */
type Cell = number

/** The cell of a row without a position that could be used. */
export const NO_CELL: Cell = 2 ** 32 - 1
/** Of a row whose position would be valid with latitude and longitude exchanged. */
export const EXCHANGED_CELL: Cell = NO_CELL - 1
/** Of a row that has both coordinates beyond 180, as metres are. */
export const PROJECTED_CELL: Cell = NO_CELL - 2
/** A county has a hundred cells, and all counts together take 26 MB. */
const CELLS_PER_DEGREE = 10
const CELL_COLUMN_COUNT = 360 * CELLS_PER_DEGREE
const CELL_ROW_COUNT = 180 * CELLS_PER_DEGREE
const UNITS_PER_CELL = UNITS_PER_DEGREE / CELLS_PER_DEGREE
/** What fits on a terminal. */
const FRAME_COLUMN_COUNT = 72
const FRAME_ROW_COUNT = 24

/** The part of the grid that has rows, in steps of whole cells that are as fine as a frame allows. */
export interface RejectedMap {
  /** The edges of its cells, in units of 1e-7 degree. */
  readonly box: Box
  readonly columnCount: number
  readonly rowCount: number
  /** Rows of each step, row by row from the north-west. */
  readonly counts: Uint32Array
}

/** @param lng,lat  units of 1e-7 degree */
export function cellOf(lng: number, lat: number): Cell {
  // 180 and 90 degrees belong to the last cells.
  const column = Math.min(CELL_COLUMN_COUNT - 1, Math.floor((lng + HALF_TURN) / UNITS_PER_CELL))
  const row = Math.min(CELL_ROW_COUNT - 1, Math.floor((lat + POLE_UNITS) / UNITS_PER_CELL))
  return row * CELL_COLUMN_COUNT + column
}

export class RejectedCells {
  /** Of each row of cells from the south; made for its first rejected row. */
  readonly #counts: (Uint32Array | undefined)[] = []
  #minColumn = CELL_COLUMN_COUNT
  #minRow = CELL_ROW_COUNT
  #maxColumn = -1
  #maxRow = -1

  /** Rows of these two cells. */
  exchangedCount = 0
  projectedCount = 0

  add(cell: Cell): void {
    if (cell === EXCHANGED_CELL) this.exchangedCount++
    if (cell === PROJECTED_CELL) this.projectedCount++
    if (cell >= PROJECTED_CELL) return
    if (cell === NO_CELL) return
    const column = cell % CELL_COLUMN_COUNT
    const row = (cell - column) / CELL_COLUMN_COUNT
    this.#counts[row] ??= new Uint32Array(CELL_COLUMN_COUNT)
    this.#counts[row][column]++
    this.#minColumn = Math.min(this.#minColumn, column)
    this.#maxColumn = Math.max(this.#maxColumn, column)
    this.#minRow = Math.min(this.#minRow, row)
    this.#maxRow = Math.max(this.#maxRow, row)
  }

  /** Undefined if no row has a position. */
  map(): RejectedMap | undefined {
    if (this.#maxRow < 0) return undefined
    const [minColumn, minRow] = [this.#minColumn, this.#minRow]
    const cellColumnCount = this.#maxColumn + 1 - minColumn
    const cellRowCount = this.#maxRow + 1 - minRow
    const columnStep = Math.ceil(cellColumnCount / FRAME_COLUMN_COUNT)
    const rowStep = Math.ceil(cellRowCount / FRAME_ROW_COUNT)
    const columnCount = Math.ceil(cellColumnCount / columnStep)
    const rowCount = Math.ceil(cellRowCount / rowStep)
    const counts = new Uint32Array(columnCount * rowCount)
    for (let row = 0; row < cellRowCount; row++) {
      const cells = this.#counts[minRow + row]
      if (cells === undefined) continue
      const to = (rowCount - 1 - Math.floor(row / rowStep)) * columnCount
      for (let column = 0; column < cellColumnCount; column++) {
        counts[to + Math.floor(column / columnStep)] += cells[minColumn + column]
      }
    }
    const box = {
      minLng: minColumn * UNITS_PER_CELL - HALF_TURN,
      minLat: minRow * UNITS_PER_CELL - POLE_UNITS,
      // The last steps may have fewer cells than others.
      maxLng: Math.min(
        HALF_TURN,
        (minColumn + columnCount * columnStep) * UNITS_PER_CELL - HALF_TURN,
      ),
      maxLat: Math.min(POLE_UNITS, (minRow + rowCount * rowStep) * UNITS_PER_CELL - POLE_UNITS),
    }
    return { box, columnCount, rowCount, counts }
  }
}
