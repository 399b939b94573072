/**
 * Draws where the rejected rows are, for the report of an import.
 *
 * @module
 */
import type { RejectedMap } from '../../sources/rows/rejected-cells.js'
import { drawMap } from '../inspect/density-map.js'
import { formatDegrees } from '../quantities.js'

/** The lines of a map, and above it what it shows. */
export function drawRejected(map: RejectedMap, rejectedCount: number): string[] {
  const { minLng, minLat, maxLng, maxLat } = map.box
  const count = map.counts.reduce((sum, one) => sum + one, 0)
  return [
    `where      ${count} of ${rejectedCount} rejected rows have a position that could be used,`,
    `           from ${formatDegrees(minLng)} to ${formatDegrees(maxLng)} degrees east and ` +
      `from ${formatDegrees(minLat)} to ${formatDegrees(maxLat)} degrees north`,
    ...drawMap(map),
  ]
}
