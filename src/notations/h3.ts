/**
 * Cells of H3: hexagons, and twelve pentagons of each resolution. A cell is not the union of its
 * children, which stick out of it, and so each cell is drawn by itself, whatever other cells are there.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { h3 } from '../geometry/h3.js'
import { limits } from '../limits.js'
import type { DrawnGeometry, Position } from './drawn.js'
import { textsOf } from './text-list.js'

/**
 * @param value  one cell or an array of cells of any resolutions: an index in hex, or as the whole number
 * of 64 bits that databases keep, both as a text
 * @returns a polygon for each cell, once; none for an empty array
 * @throws ServiceError  InvalidH3Cell with the path of the element, also for an edge and a vertex;
 * TooManyVertices
 */
export function readH3(value: unknown, path: string): DrawnGeometry {
  const { cellToBoundary, isValidCell } = h3()
  const cells = new Map<string, Position[][]>()
  let positionCount = 0
  for (const { text, path: at } of textsOf(value, path, 'InvalidH3Cell', WHAT)) {
    const cell = cellOf(text)
    if (cell === undefined || !isValidCell(cell)) {
      const problem = 'must be the index of an H3 cell: 15 hex digits, or 18 decimal ones'
      throw new ServiceError('InvalidH3Cell', `${at} ${problem}`, at)
    }
    if (cells.has(cell)) continue
    const ring = cellToBoundary(cell, true)
    positionCount += ring.length
    if (positionCount > limits.vertexCount) {
      const problem = `has cells of more than ${limits.vertexCount} positions`
      throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
    }
    cells.set(cell, [ring])
  }
  return { type: 'MultiPolygon', coordinates: [...cells.values()] }
}

const WHAT = ['an H3 cell', 'H3 cells'] as const

/** The index of a cell has 15 digits in hex, and 18 in decimal: no text can be read as either. */
function cellOf(text: string): string | undefined {
  if (/^0?8[0-9a-f]{14}$/i.test(text)) return text.slice(-15).toLowerCase()
  return /^[56]\d{17}$/.test(text) ? BigInt(text).toString(16) : undefined
}
