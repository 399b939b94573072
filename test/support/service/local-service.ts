/**
 * A selection service in the test's own thread: the stages and shards are real, only the pool is
 * not.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { ServiceError } from '../../../src/errors.js'
import { limits } from '../../../src/limits.js'
import type { Caller, QueryRunner, Task, TaskResults } from '../../../src/pool/tasks.js'
import type { SelectionService } from '../../../src/selection/answer.js'
import { NO_BOUNDARY } from '../../../src/selection/boundary.js'
import type { CatalogueSource } from '../../../src/selection/catalogue.js'
import { LiveViews } from '../../../src/selection/live-views.js'
import { buildShard } from '../../../src/shard/build/build.js'
import { partition } from '../../../src/shard/build/partition.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import type { ChangedShards } from '../../../src/shard/delta/increment.js'
import { LiveShards } from '../../../src/shard/delta/live-shards.js'
import { cellsOf } from '../../../src/shard/grid/cells.js'
import { attachShard, type Shard, type ShardImage } from '../../../src/shard/layout.js'
import { offersOf } from '../../../src/shard/nearest.js'
import { offerWords } from '../../../src/shard/offer-words.js'
import { encodeRows, rowBytes } from '../../../src/shard/rows/encode-rows.js'
import { countInside, coveredBy, firstsAmong, selectInside } from '../../../src/shard/select.js'
import { inArenas } from '../data/arenas.js'
import { withRepeats } from '../data/repeats.js'
import { withContactTies } from '../data/ties.js'

export interface LocalSource {
  readonly id: number
  readonly label: string
  readonly columns: RecipientColumns
}

export interface LocalService extends SelectionService {
  /** Tasks that were run, in order. */
  readonly tasks: readonly Task[]
  /** Those of the snapshot. */
  readonly shards: readonly Shard[]
  newestMoment(): number
  /** Lets the newest of its views be one with what came since. */
  add(changed: ChangedShards): void
}

/** @param shardRecipientCount  recipients of a shard, to have several of them in a small world */
export function localService(
  sources: readonly LocalSource[],
  shardRecipientCount: number = limits.shardRecipientCount,
): LocalService {
  return serviceOf('000001-00000000', sources, localImages(sources, shardRecipientCount))
}

/** The shards of such a service. */
export function localImages(
  sources: readonly LocalSource[],
  shardRecipientCount: number,
): ShardImage[] {
  const images = sources.flatMap(({ id, columns }) => shardsOf(columns, id, shardRecipientCount))
  // Where a service has them, so that it is its kernel that is tested.
  return withContactTies(withRepeats(inArenas(images, 1)))
}

/** Buffers of `limits.rowBufferBytes` to use again. Making one takes longer than writing the rows of most tests. */
const freeBuffers: Uint8Array<ArrayBuffer>[] = []

/** A service over the shards of a snapshot. */
export function serviceOf(
  snapshotId: string,
  sources: readonly CatalogueSource[],
  images: readonly ShardImage[],
  boundaryRule = NO_BOUNDARY,
  spread: (own: QueryRunner) => QueryRunner = (own) => own,
  more: Partial<ConstructorParameters<typeof LiveViews>[0]> = {},
): LocalService {
  const shards = images.map(attachShard)
  const live = new LiveShards(
    shards,
    sources.map(({ id }) => id),
  )
  const tasks: Task[] = []
  const run = async (task: Task, caller: Caller): Promise<TaskResults[Task['kind']]> => {
    // As the scheduler does.
    if (caller.gone) throw new ServiceError('Unavailable', 'whoever asked has gone')
    tasks.push(task)
    if (task.kind === 'encode') {
      const bytes = takenBuffer()
      const { rowCount, byteCount } = encodeRows(
        live.columnsAt(task.shardIndex),
        task.runs,
        task.format,
        bytes,
      )
      let isReleased = false
      const release = () => {
        assert(!isReleased, 'a buffer is released once')
        isReleased = true
        // Whoever goes on reading must see that.
        bytes.fill(0, 0, byteCount)
        freeBuffers.push(bytes)
      }
      return { rowCount, bytes: bytes.subarray(0, byteCount), release }
    }
    if (task.kind === 'rowBytes') {
      return rowBytes(live.columnsAt(task.shardIndex), task.runs, task.format)
    }
    if (task.kind === 'cells') {
      return cellsOf(task.grid).count(live.columnsAt(task.shardIndex), task.runs)
    }
    const { shapes, countMode, isDistinct, mask, moment, since = 0, given = [] } = task
    const touched = Array.from(task.shardIndexes, (index) =>
      task.kind === 'cover'
        ? live.cameSince(index, since)
        : live.at(index, moment, mask, countMode === 'Contact' || isDistinct),
    )
    const budget = { edgeTestCount: limits.edgeTestCount }
    if (task.kind === 'cover') return touched.map((shard) => coveredBy(shard, shapes, budget))
    if (task.kind === 'offer') {
      return offerWords(touched.length, offersOf(touched, shapes, given, budget))
    }
    if (task.kind === 'firsts') return firstsAmong(touched, given, budget, countMode, isDistinct)
    return task.kind === 'count'
      ? Array.from(countInside(touched, shapes, budget, countMode, isDistinct))
      : selectInside(touched, shapes, budget, countMode, isDistinct)
  }
  const views = new LiveViews({
    snapshotId,
    createdAt: '2026-01-31T08:15:00.000Z',
    sources,
    shards: images,
    runner: spread({ run: run as QueryRunner['run'] }),
    queryThreadCount: 2,
    countMode: () => 'ContactLocation',
    boundaryRule,
    ...more,
  })
  return {
    ...views.newest,
    tasks,
    shards,
    newestMoment: () => views.newest.moment,
    add(changed) {
      const { moment } = views.newest
      const seals = Uint32Array.from(
        { length: changed.moment - moment },
        (_, at) => moment + at + 1,
      )
      const increment = { ...changed, seals }
      live.add(increment)
      views.add(increment)
    },
  }
}

/** The one that was released longest ago, but not the last of them, so that whoever goes on reading sees zeros. */
function takenBuffer(): Uint8Array<ArrayBuffer> {
  const taken = freeBuffers.length > FREE_BUFFER_COUNT ? freeBuffers.shift() : undefined
  return taken ?? new Uint8Array(limits.rowBufferBytes)
}

const FREE_BUFFER_COUNT = 4

export function shardsOf(
  columns: RecipientColumns,
  sourceId: number,
  shardRecipientCount: number,
): ShardImage[] {
  return partition(columns, shardRecipientCount).map((rows, regionIndex) =>
    buildShard(columns, rows, sourceId, regionIndex),
  )
}
