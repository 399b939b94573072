/**
 * The audience thread as the list of an answer sees it: like the query workers, but for files.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Caller, QueryRunner, Task, TaskResults } from '../pool/tasks.js'
import type { Audiences } from './audiences.js'
import type { OpenedShard } from './messages.js'

/** @param shards  of the page; tasks name them by their position */
export function audienceRunner(audiences: Audiences, shards: readonly OpenedShard[]): QueryRunner {
  const run = async (task: Task, caller: Caller): Promise<TaskResults[Task['kind']]> => {
    const isOfRows = task.kind === 'encode' || task.kind === 'rowBytes'
    if (!isOfRows || task.format.kind === 'binary') {
      throw new ServiceError('InternalError', 'an audience is not searched, and frozen once')
    }
    const { kind, shardIndex, runs, format } = task
    const order = { place: shards[shardIndex].place, runs, format }
    if (kind === 'rowBytes') return await audiences.ask({ kind, ...order }, caller)
    const rows = await audiences.ask({ kind, ...order }, caller)
    return { ...rows, release: () => {} }
  }
  return { run: run as QueryRunner['run'] }
}
