/**
 * Fourth stage: sends tasks to the query workers. What they find has the order of the tasks and of the
 * shards in each.
 *
 * @module
 */
import type { Caller, QueryRunner } from '../pool/messages.js'
import type { Plan } from './plan.js'

/** What is selected of one shard, as [start, end) pairs of recipient indexes. */
export interface ShardRuns {
  readonly shardIndex: number
  readonly runs: Uint32Array
}

/**
 * @returns of each task, how many recipients of each shard are inside
 * @throws ServiceError
 */
export function dispatchCounts(
  runner: QueryRunner,
  { tasks, shapes, countMode, isDistinct, isLarge }: Plan,
  caller: Caller,
): Promise<readonly Uint32Array[]> {
  const asked = { shapes, countMode, isDistinct, isLarge }
  return allOf(
    tasks.map((shardIndexes) =>
      runner.run<'count'>({ kind: 'count', shardIndexes, ...asked }, caller),
    ),
  )
}

/**
 * @returns what is selected of each shard, in ascending order of shards
 * @throws ServiceError
 */
export async function dispatchRuns(
  runner: QueryRunner,
  { tasks, shapes, countMode, isDistinct, isLarge }: Plan,
  caller: Caller,
): Promise<readonly ShardRuns[]> {
  const asked = { shapes, countMode, isDistinct, isLarge }
  const selected = await allOf(
    tasks.map((shardIndexes) =>
      runner.run<'select'>({ kind: 'select', shardIndexes, ...asked }, caller),
    ),
  )
  const found = tasks.flatMap((shardIndexes, task) =>
    Array.from(shardIndexes, (shardIndex, i) => ({ shardIndex, runs: selected[task][i] })),
  )
  return found.sort((a, b) => a.shardIndex - b.shardIndex)
}

/** Promise.all, which costs a small request more than all else here. */
async function allOf<Value>(parts: readonly Promise<Value>[]): Promise<readonly Value[]> {
  return parts.length === 1 ? [await parts[0]] : Promise.all(parts)
}
