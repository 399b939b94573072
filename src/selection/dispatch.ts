/**
 * Fourth stage: tasks go to the query workers, and what comes back is put in shard order.
 *
 * @module
 */
import type { Caller, QueryRunner } from '../pool/messages.js'
import type { Plan } from './plan.js'

/** What is counted of one shard. */
export interface ShardCount {
  readonly shardIndex: number
  readonly count: number
}

/** What is selected of one shard, as [start, end) pairs of recipient indexes. */
export interface ShardRuns {
  readonly shardIndex: number
  readonly runs: Uint32Array
}

/** Counts, shard by shard. */
export async function dispatchCounts(
  runner: QueryRunner,
  { tasks, shapes, countMode, isLarge }: Plan,
  caller: Caller,
): Promise<ShardCount[]> {
  const parts = tasks.map(async (shardIndexes) => {
    const task = { kind: 'count', shardIndexes, shapes, countMode, isLarge } as const
    const counts = await runner.run<'count'>(task, caller)
    return Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, count: counts[i] }))
  })
  return (await Promise.all(parts)).flat()
}

/** Selects, shard by shard, in ascending order of shards. */
export async function dispatchRuns(
  runner: QueryRunner,
  { tasks, shapes, countMode, isLarge }: Plan,
  caller: Caller,
): Promise<ShardRuns[]> {
  const parts = tasks.map(async (shardIndexes) => {
    const task = { kind: 'select', shardIndexes, shapes, countMode, isLarge } as const
    const runs = await runner.run<'select'>(task, caller)
    return Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, runs: runs[i] }))
  })
  return (await Promise.all(parts)).flat().sort((a, b) => a.shardIndex - b.shardIndex)
}
