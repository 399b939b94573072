/**
 * Third stage: finds the shards that may hold recipients of a query, and splits them into tasks.
 *
 * @module
 */
import { layerMeets, layerSize } from '../geometry/layer-parts.js'
import { holdsFor, type Shapes, type SourceFilter } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import type { MissingShards, SelectionKind, SelectionTask } from '../pool/tasks.js'
import { isAllBeyond, type Mask } from '../shard/mask.js'
import { type CountMode, needsWholeSources } from '../shard/select.js'
import { type Catalogue, type CatalogueShard, isFilled } from './catalogue.js'
import type { Query } from './validate.js'

/** What does not follow from the query alone. */
interface Counting {
  readonly countMode: CountMode
  /** Of the boundary that holds for the query; null where none does. */
  readonly mask: Mask | null
  readonly moment: number
  /** See `SelectionTask`. */
  readonly missing?: MissingShards | undefined
}

/**
 * A query that touches few shards goes whole to one worker; a larger one is dealt out to several, by
 * shard, or by source where one shard of a source depends on the others. Where each phone counts once,
 * all depend on all before them, and one worker has the whole.
 *
 * @param kind  what is asked of the workers
 * @param threadCount  query workers that could share the work
 * @returns no task when no shard is touched
 */
export function planTasks<Kind extends SelectionKind>(
  kind: Kind,
  { shapes, sourceIds, isDistinct }: Pick<Query, 'isDistinct' | 'shapes' | 'sourceIds'>,
  { countMode, mask, moment, missing }: Counting,
  { shards }: Pick<Catalogue, 'shards'>,
  threadCount: number,
): readonly SelectionTask<Kind>[] {
  const touched = touchedBy(shapes, sourceIds, shards, mask)
  if (touched.length === 0) return NO_TASKS
  const isShared = reachesFar(touched, shards)
  const hasWholeSources = needsWholeSources(shapes, countMode)
  const isLarge = isShared || shapes.nearest.length > 0 || sizeOf(shapes) > limits.smallVertexCount
  const taskOf = (shardIndexes: readonly number[]): SelectionTask<Kind> => {
    return { kind, shardIndexes, shapes, countMode, isDistinct, mask, moment, isLarge, missing }
  }
  if (!isShared || isDistinct) return [taskOf(touched)]
  const together = (index: number) => (hasWholeSources ? shards[index].sourceId : index)
  const groups = groupBy(touched, together)
  // One worker is kept free for small queries.
  const taskCount = Math.min(groups.length, Math.max(1, threadCount - 1))
  return Array.from({ length: taskCount }, (_, task) =>
    taskOf(groups.filter((_, i) => i % taskCount === task).flat()),
  )
}

const NO_TASKS = [] as const

/** The indexes of shards that may have recipients inside, of the sources that are answered for. */
function touchedBy(
  shapes: Shapes,
  sourceIds: SourceFilter,
  shards: readonly CatalogueShard[],
  mask: Mask | null,
): number[] {
  const touched: number[] = []
  for (let index = 0; index < shards.length; index++) {
    const shard = shards[index]
    if (sourceIds !== null && !sourceIds.includes(shard.sourceId)) continue
    if (mask !== null && isAllBeyond(mask, index)) continue
    if (isFilled(shard) && isTouched(shard, shapes)) touched.push(index)
  }
  return touched
}

/**
 * Whether a query is for several workers: it touches many shards of one source, so that it is wide, or
 * very many in all. In each of ten sources a small shape has only its part of the people.
 */
function reachesFar(touched: readonly number[], shards: readonly CatalogueShard[]): boolean {
  if (touched.length <= limits.shardsPerTaskCount) return false
  if (touched.length > limits.smallShardCount) return true
  let ofSourceCount = 0
  let sourceId = -1
  // The shards of a source follow one another.
  for (const index of touched) {
    ofSourceCount = shards[index].sourceId === sourceId ? ofSourceCount + 1 : 1
    sourceId = shards[index].sourceId
    if (ofSourceCount > limits.shardsPerTaskCount) return true
  }
  return false
}

/** Vertices and arcs. */
function sizeOf({ included, excluded }: Shapes): number {
  let size = 0
  for (const layers of [included, excluded]) {
    for (const layer of layers) size += layerSize(layer)
  }
  return size
}

function isTouched(shard: CatalogueShard, { included, nearest }: Shapes): boolean {
  let isLimited = false
  for (const layer of included) {
    if (!holdsFor(layer, shard.sourceId)) continue
    if (layerMeets(layer, shard.box)) return true
    isLimited = true
  }
  if (nearest.length === 0) return false
  // The nearest of all may be anywhere; of those inside a layer they are where the layer is.
  return nearest.some((each) => holdsFor(each, shard.sourceId) && (each.isExcluded || !isLimited))
}

/** Lists of members with the same key, in the order of their first ones. */
function groupBy(members: readonly number[], keyOf: (member: number) => number): number[][] {
  const groups = new Map<number, number[]>()
  for (const member of members) {
    const group = groups.get(keyOf(member))
    if (group === undefined) groups.set(keyOf(member), [member])
    else group.push(member)
  }
  return [...groups.values()]
}
