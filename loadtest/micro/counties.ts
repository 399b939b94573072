/**
 * How long does it take to find who is inside a county, a shape of many vertices and sizes?
 *
 * @module
 */
import { loadCounties } from '../../test/support/counties.js'
import type { Table } from '../table.js'
import { measureSelections } from './selection.js'
import type { World } from './world.js'

export function measureCounties(world: World): Table {
  const geometries = loadCounties().map(({ geometry }) => geometry)
  return measureSelections('counties of the US', world, geometries)
}
