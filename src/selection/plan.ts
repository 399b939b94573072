/**
 * Third stage: which shards may hold recipients of a query, and how many tasks share them.
 *
 * @module
 */
import { type Polygons, vertexBounds } from '../geometry/polygons.js'
import { limits } from '../limits.js'
import { meets } from '../shard/layout.js'
import type { CatalogueShard } from './catalogue.js'

/** Shard indexes of each task; no task when no shard is touched. */
export type Plan = readonly Uint32Array[]

/**
 * A query that touches few shards goes whole to one worker; a larger one is dealt out to all.
 *
 * @param threadCount  query workers that could share the work
 */
export function planShards(
  polygons: Polygons,
  shards: readonly CatalogueShard[],
  threadCount: number,
): Plan {
  const touched = touchedShards(polygons, shards)
  if (touched.length === 0) return []
  const taskCount =
    touched.length > limits.shardsPerTaskCount ? Math.min(threadCount, touched.length) : 1
  return Array.from({ length: taskCount }, (_, task) =>
    Uint32Array.from(touched.filter((_, i) => i % taskCount === task)),
  )
}

function touchedShards({ vertices }: Polygons, shards: readonly CatalogueShard[]): number[] {
  const bounds = new Float64Array(4)
  vertexBounds(vertices, 0, vertices.length / 2, bounds)
  return shards.flatMap(({ box }, index) => (meets(box, bounds) ? [index] : []))
}
