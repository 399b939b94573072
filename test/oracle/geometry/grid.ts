/**
 * Leaves out most of many positions before the rest are held against a shape one by one.
 *
 * @module
 */
import type { Prepared } from './exact.js'

/** In units of 1e-7 degree, row by row. */
export interface Positions {
  readonly lngs: ArrayLike<number>
  readonly lats: ArrayLike<number>
}

/** Rows by cells of a tenth of a degree, so that a county meets only those around it. */
export interface Grid {
  readonly rowsByCell: Uint32Array
  /** Where the rows of each cell start; one entry more than cells. */
  readonly starts: Uint32Array
}

const CELL_UNITS = 1_000_000
const COLUMN_COUNT = 3_601
const LINE_COUNT = 1_801

const columnOf = (lng: number) =>
  Math.min(COLUMN_COUNT - 1, Math.max(0, Math.floor((lng + 1_800_000_000) / CELL_UNITS)))
const lineOf = (lat: number) =>
  Math.min(LINE_COUNT - 1, Math.max(0, Math.floor((lat + 900_000_000) / CELL_UNITS)))

export function sortIntoCells({ lngs, lats }: Positions): Grid {
  const cells = Uint32Array.from(
    lngs,
    (lng, row) => lineOf(lats[row]) * COLUMN_COUNT + columnOf(lng),
  )
  const starts = new Uint32Array(LINE_COUNT * COLUMN_COUNT + 1)
  for (const cell of cells) starts[cell + 1] += 1
  for (let cell = 1; cell < starts.length; cell += 1) starts[cell] += starts[cell - 1]
  const next = starts.slice()
  const rowsByCell = new Uint32Array(lngs.length)
  for (const [row, cell] of cells.entries()) {
    rowsByCell[next[cell]] = row
    next[cell] += 1
  }
  return { rowsByCell, starts }
}

/** Only leaves out rows that the bounds of every polygon leave out; all else is decided exactly. */
export function rowsInside(
  prepared: Omit<Prepared, 'verdict'>,
  { lngs, lats }: Positions,
  grid: Grid,
): number[] {
  const inside = new Set<number>()
  for (const { minLng, minLat, maxLng, maxLat } of prepared.bounds)
    for (let line = lineOf(minLat); line <= lineOf(maxLat); line += 1) {
      const from = grid.starts[line * COLUMN_COUNT + columnOf(minLng)]
      const to = grid.starts[line * COLUMN_COUNT + columnOf(maxLng) + 1]
      for (const row of grid.rowsByCell.subarray(from, to))
        if (!inside.has(row) && prepared.contains(lngs[row], lats[row])) inside.add(row)
    }
  return [...inside]
}
