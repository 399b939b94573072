/**
 * A selection service in the test's own thread: the stages and shards are real, only the pool is
 * not.
 *
 * @module
 */
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import type { Caller, Task, TaskResults } from '../../src/pool/messages.js'
import type { SelectionService } from '../../src/selection/answer.js'
import { buildShard } from '../../src/shard/build.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type ShardImage } from '../../src/shard/layout.js'
import { partition } from '../../src/shard/partition.js'
import { encodeRows } from '../../src/shard/rows.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { inArenas } from './arenas.js'

export interface LocalSource {
  readonly id: number
  readonly label: string
  readonly columns: RecipientColumns
}

export interface LocalService extends SelectionService {
  /** Tasks that were run, in order. */
  readonly tasks: readonly Task[]
}

/** @param shardRecipientCount  recipients of a shard, to have several of them in a small world */
export function localService(
  sources: readonly LocalSource[],
  shardRecipientCount: number = limits.shardRecipientCount,
): LocalService {
  const images = sources.flatMap(({ id, columns }) => shardsOf(columns, id, shardRecipientCount))
  // Where a service has them, so that it is its kernel that is tested.
  const shards = inArenas(images, 1).map(attachShard)
  const tasks: Task[] = []
  const run = async (task: Task, caller: Caller): Promise<TaskResults[Task['kind']]> => {
    // As the scheduler does.
    if (caller.gone) throw new ServiceError('Unavailable', 'whoever asked has gone')
    tasks.push(task)
    if (task.kind === 'encode') {
      const bytes = new Uint8Array(limits.rowBufferBytes)
      const { rowCount, byteCount } = encodeRows(
        shards[task.shardIndex],
        task.runs,
        task.format,
        bytes,
      )
      return { rowCount, bytes: bytes.subarray(0, byteCount), release: () => bytes.fill(0) }
    }
    const touched = Array.from(task.shardIndexes, (index) => shards[index])
    const inside = task.kind === 'count' ? countInside : selectInside
    return inside(touched, task.shapes, { edgeTestCount: limits.edgeTestCount }, task.countMode)
  }
  return {
    catalogue: { snapshotId: '000001-00000000', sources, shards: images },
    runner: { run: run as SelectionService['runner']['run'] },
    queryThreadCount: 2,
    countMode: () => 'ContactLocation',
    tasks,
  }
}

export function shardsOf(
  columns: RecipientColumns,
  sourceId: number,
  shardRecipientCount: number,
): ShardImage[] {
  return partition(columns, shardRecipientCount).map((rows, regionIndex) =>
    buildShard(columns, rows, sourceId, regionIndex),
  )
}
