/**
 * Fourth stage: sends tasks to the query workers, and puts their results in shard order.
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
  { tasks, ...asked }: Plan,
  caller: Caller,
): Promise<ShardCount[]> {
  const parts = tasks.map((shardIndexes) => {
    const task = { kind: 'count', shardIndexes, ...asked } as const
    return runner.run<'count'>(task, caller)
  })
  const counted = await allOf(parts)
  return tasks.flatMap((shardIndexes, at) =>
    Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, count: counted[at][i] })),
  )
}

/** Selects, shard by shard, in ascending order of shards. */
export async function dispatchRuns(
  runner: QueryRunner,
  { tasks, ...asked }: Plan,
  caller: Caller,
): Promise<ShardRuns[]> {
  const parts = tasks.map((shardIndexes) => {
    const task = { kind: 'select', shardIndexes, ...asked } as const
    return runner.run<'select'>(task, caller)
  })
  const selected = await allOf(parts)
  const found = tasks.flatMap((shardIndexes, at) =>
    Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, runs: selected[at][i] })),
  )
  return found.sort((a, b) => a.shardIndex - b.shardIndex)
}

/** Promise.all, which costs a small request more than all else here. */
async function allOf<Value>(parts: readonly Promise<Value>[]): Promise<readonly Value[]> {
  return parts.length === 1 ? [await parts[0]] : Promise.all(parts)
}
