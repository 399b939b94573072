/**
 * Fourth stage: tasks go to the query workers, and what comes back is put in shard order.
 *
 * @module
 */
import type { Shapes } from '../geometry/polygons.js'
import type { QueryRunner } from '../pool/messages.js'
import type { Plan } from './plan.js'

/** Recipients inside, of one shard. */
export interface ShardCount {
  readonly shardIndex: number
  readonly count: number
}

/** Recipients inside, of one shard, as [start, end) pairs of recipient indexes. */
export interface ShardRuns {
  readonly shardIndex: number
  readonly runs: Uint32Array
}

/** Counts the recipients inside, shard by shard. */
export async function dispatchCounts(
  runner: QueryRunner,
  shapes: Shapes,
  plan: Plan,
  deadlineMs: number,
): Promise<ShardCount[]> {
  const parts = plan.map(async (shardIndexes) => {
    const counts = await runner.run<'count'>({ kind: 'count', shardIndexes, ...shapes }, deadlineMs)
    return Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, count: counts[i] }))
  })
  return (await Promise.all(parts)).flat()
}

/** Selects the recipients inside, shard by shard, in ascending order of shards. */
export async function dispatchRuns(
  runner: QueryRunner,
  shapes: Shapes,
  plan: Plan,
  deadlineMs: number,
): Promise<ShardRuns[]> {
  const parts = plan.map(async (shardIndexes) => {
    const runs = await runner.run<'select'>({ kind: 'select', shardIndexes, ...shapes }, deadlineMs)
    return Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, runs: runs[i] }))
  })
  return (await Promise.all(parts)).flat().sort((a, b) => a.shardIndex - b.shardIndex)
}
