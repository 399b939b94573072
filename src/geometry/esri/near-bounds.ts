/**
 * Where rings come near each other.
 *
 * @module
 */

import { type Bounds, boundsOf, emptyBounds, extend } from '../bounds.js'
import type { UnitRing } from '../polygon/antimeridian.js'
import type { RingBudget } from '../ring-budget.js'

/** What it costs to compare two boxes, in comparisons of edges. */
const BOX_COST = 0.125

/**
 * For each ring what its bounds share with those of all others together; empty if nothing.
 *
 * @param budget  when it is spent the bounds are of no use
 */
export function nearBounds(rings: readonly UnitRing[], budget: RingBudget): Bounds[] {
  const bounds = rings.map(boundsOf)
  const near = rings.map(emptyBounds)
  const order = [...rings.keys()].sort((a, b) => bounds[a].minLng - bounds[b].minLng)
  // In columns, as in the worst case each ring is compared with each.
  const minLngs = Float64Array.from(order, (ring) => bounds[ring].minLng)
  const minLats = Float64Array.from(order, (ring) => bounds[ring].minLat)
  const maxLats = Float64Array.from(order, (ring) => bounds[ring].maxLat)
  for (let i = 0; i < order.length; i++) {
    const { minLat, maxLng, maxLat } = bounds[order[i]]
    for (let j = i + 1; j < order.length && minLngs[j] <= maxLng; j++) {
      budget.comparisonsLeft -= BOX_COST
      if (budget.comparisonsLeft < 0) return near
      if (minLats[j] > maxLat || maxLats[j] < minLat) continue
      budget.comparisonsLeft--
      for (const ring of [order[i], order[j]]) {
        extend(near[ring], minLngs[j], Math.max(minLat, minLats[j]))
        extend(near[ring], Math.min(maxLng, bounds[order[j]].maxLng), Math.min(maxLat, maxLats[j]))
      }
    }
  }
  return near
}
