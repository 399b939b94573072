/**
 * The members of a grid request that say which grid is meant; the others are those of a recipient request.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { GridRequestSchema } from '../interface/grid.js'
import { flagOf, wholeNumber } from '../interface/quoted.js'
import { limits } from '../limits.js'
import type { Grid } from '../shard/grid/grid.js'
import { type JsonObject, member } from './parse.js'
import { refuseOthers } from './request-members.js'

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
  refuseOthers(request, ['limit', 'after', 'partial'], ALL_COUNTED)
  const countsOnly = member(request, 'countsonly')
  if (flagOf(countsOnly) !== true) refuseOthers(request, ['countsOnly'], ALL_COUNTED)
  const resolution = count(request, 'h3Resolution')
  const side = count(request, 'cellsPerSide')
  const minCount = count(request, 'minCount')
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
const ALL_COUNTED = 'a grid has counts of everybody who is selected'
const ONE_OF_BOTH = 'a grid is named by h3Resolution or by tile, and by one of them alone'
const NO_TILE = 'cellsPerSide divides a tile: leave it out, or name the tile'
const SIDE_DEFAULT = 16

function count(
  request: JsonObject,
  name: 'h3Resolution' | 'cellsPerSide' | 'minCount',
): number | undefined {
  const value = member(request, name.toLowerCase())
  if (value === undefined || value === null) return undefined
  return wholeNumber(value, name, GridRequestSchema.properties[name])
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
