/**
 * The smallest subtree of a shard outside which no edge of a table lies. What is outside is outside of all
 * rings, so that a descent may begin there: a small shape is asked of a few levels of the tree, not of all.
 *
 * @module
 */
import type { Bounds } from '../../geometry/bounds.js'
import type { Shard } from '../layout.js'

/** A range of recipients, both ends among them, and its cell: closed bounds, in units. */
export interface Subtree extends Bounds {
  left: number
  right: number
  /** Whether its middle item splits it by latitude, and not by longitude. */
  isByLat: boolean
}

/**
 * @param bounds  of all edges: min lng, min lat, max lng, max lat
 * @param into  is overwritten
 */
export function enclose(
  { recipientCount, nodeSize, coords, box }: Shard,
  bounds: Float64Array,
  into: Subtree,
): void {
  const minLng = bounds[0]
  const minLat = bounds[1]
  const maxLng = bounds[2]
  const maxLat = bounds[3]
  let left = 0
  let right = recipientCount - 1
  let isByLat = false
  let { minLng: west, minLat: south, maxLng: east, maxLat: north } = box
  while (right - left > nodeSize) {
    const middle = (left + right) >> 1
    if (isByLat) {
      const lat = coords[2 * middle + 1]
      if (maxLat < lat) north = lat
      else if (minLat > lat) south = lat
      else break
      if (maxLat < lat) right = middle - 1
      else left = middle + 1
    } else {
      const lng = coords[2 * middle]
      if (maxLng < lng) east = lng
      else if (minLng > lng) west = lng
      else break
      if (maxLng < lng) right = middle - 1
      else left = middle + 1
    }
    isByLat = !isByLat
  }
  into.left = left
  into.right = right
  into.isByLat = isByLat
  into.minLng = west
  into.minLat = south
  into.maxLng = east
  into.maxLat = north
}

/** The subtree that is all of a shard. */
export function wholeOf({ recipientCount, box }: Shard): Subtree {
  const { minLng, minLat, maxLng, maxLat } = box
  return { left: 0, right: recipientCount - 1, isByLat: false, minLng, minLat, maxLng, maxLat }
}

/** For `enclose` to overwrite. */
export function emptySubtree(): Subtree {
  return { left: 0, right: -1, isByLat: false, minLng: 0, minLat: 0, maxLng: 0, maxLat: 0 }
}
