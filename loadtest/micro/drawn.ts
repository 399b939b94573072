/**
 * How long does it take to find who is inside a polygon that somebody has drawn?
 *
 * @module
 */
import { drawnPolygons } from '../drawn.js'
import type { Table } from '../table.js'
import { measureSelections } from './selection.js'
import type { World } from './world.js'

const SHAPE_COUNT = 2_000

export function measureDrawn(world: World): Table {
  const geometries = drawnPolygons(world.columns, SHAPE_COUNT, world.seed)
  return measureSelections('drawn polygons', world, geometries)
}
