/**
 * The cells of any grid.
 *
 * @module
 */
import type { Cells, Grid } from './grid.js'
import { H3Cells } from './h3-cells.js'
import { TileCells } from './tile-cells.js'

export function cellsOf(grid: Grid): Cells {
  return grid.kind === 'tile' ? new TileCells(grid) : new H3Cells(grid)
}
