/**
 * The members of a grid request that say which grid is meant; the others are those of a recipient request.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { numberOf } from '../interface/quoted.js'
import { limits } from '../limits.js'
import type { Grid } from '../shard/grid/grid.js'
import { type JsonObject, member } from './parse.js'

export interface GridTerms {
  readonly grid: Grid
  /** Undefined where nothing was said of small counts. */
  readonly minCount: number | undefined
}

/**
 * @returns the members of the selection alone, and the others as they are meant
 * @throws ServiceError  naming the member at fault
 */
export function readGridRequest(request: JsonObject): {
  selection: JsonObject
  terms: GridTerms
} {
  for (const name of ['countsOnly', 'limit', 'after', 'partial']) {
    const value = member(request, name.toLowerCase())
    if (value === undefined || value === null || value === false) continue
    const isCounts = name === 'countsOnly' && (value === true || value === 'true')
    if (isCounts) continue
    const problem = 'a grid has counts of everybody who is selected'
    throw new ServiceError('InvalidRequest', `${problem}: leave out ${name}`, name)
  }
  const resolution = wholeNumber(request, 'h3Resolution', 0, 15)
  const side = wholeNumber(request, 'cellsPerSide', 1, limits.gridSideCount)
  const minCount = wholeNumber(request, 'minCount', 1, limits.gridMinCount)
  const tile = member(request, 'tile')
  const hasTile = tile !== undefined && tile !== null
  if (hasTile === (resolution !== undefined)) {
    throw new ServiceError('InvalidRequest', ONE_OF_BOTH, hasTile ? 'tile' : 'h3Resolution')
  }
  if (side !== undefined && !hasTile) {
    throw new ServiceError('InvalidRequest', NO_TILE, 'cellsPerSide')
  }
  const grid: Grid = resolution === undefined ? tileGrid(tile, side) : { kind: 'h3', resolution }
  const others = Object.entries(request).filter(([name]) => !OWN.has(name.toLowerCase()))
  return { selection: Object.fromEntries(others), terms: { grid, minCount } }
}

const OWN: ReadonlySet<string> = new Set([
  'h3resolution',
  'tile',
  'cellsperside',
  'mincount',
  'countsonly',
])
const ONE_OF_BOTH = 'a grid is named by h3Resolution or by tile, and by one of them alone'
const NO_TILE = 'cellsPerSide divides a tile: leave it out, or name the tile'
const SIDE_DEFAULT = 16

function wholeNumber(
  request: JsonObject,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = member(request, name.toLowerCase())
  if (value === undefined || value === null) return undefined
  const found = numberOf(value)
  if (found !== undefined && Number.isInteger(found) && found >= least && found <= most)
    return found
  const range = `from ${least} to ${most.toLocaleString('en-US')}`
  throw new ServiceError('InvalidRequest', `${name} must be a whole number ${range}`, name)
}

function tileGrid(tile: unknown, side: number = SIDE_DEFAULT): Grid {
  const depth = Math.log2(side)
  if (!Number.isInteger(depth)) {
    throw new ServiceError(
      'InvalidRequest',
      'cellsPerSide must be a power of two, such as 16',
      'cellsPerSide',
    )
  }
  const [, ...parts] = TILE.exec(typeof tile === 'string' ? tile : '') ?? []
  const [zoom, x, y] = parts.map(Number)
  const isTile = parts.length === 3 && x < 2 ** zoom && y < 2 ** zoom
  if (!isTile) throw new ServiceError('InvalidRequest', NOT_A_TILE, 'tile')
  if (zoom + depth > limits.gridCellZoom) {
    const most = `a cell is a tile of zoom ${limits.gridCellZoom} at most`
    throw new ServiceError(
      'InvalidRequest',
      `tile is divided too finely: ${most}, so take a lower zoom or cellsPerSide`,
      'tile',
    )
  }
  return { kind: 'tile', zoom, x, y, depth }
}

const TILE = /^(\d{1,2})\/(\d{1,9})\/(\d{1,9})$/
const NOT_A_TILE =
  'tile must be a text as "8/59/105": zoom, column from the west and row from the north, each column and row ' +
  'below 2 to the power of zoom'
