/**
 * Fifth stage: makes one record for each source from the results of its shards. Sources without a
 * recipient inside have a record, too.
 *
 * @module
 */
import { holdsFor, type SourceFilter } from '../geometry/shapes.js'
import { recipientCountOf } from '../shard/runs.js'
import type { Catalogue, CatalogueSource } from './catalogue.js'
import type { ShardRuns } from './dispatch.js'

/** What a source contributes to an answer. */
export interface SourceSelection {
  readonly source: CatalogueSource
  readonly count: number
  /** Empty when only counts were asked for. */
  readonly shards: readonly ShardRuns[]
}

/**
 * @param tasks  the shards of each task
 * @param counted  the counts of each task, in the same order
 */
export function mergeCounts(
  { sources, shards }: Catalogue,
  sourceIds: SourceFilter,
  tasks: readonly Uint32Array[],
  counted: readonly Uint32Array[],
): SourceSelection[] {
  const selections: SourceSelection[] = []
  for (const source of sources) {
    if (!holdsFor({ sourceIds }, source.id)) continue
    let count = 0
    for (let task = 0; task < tasks.length; task++) {
      const shardIndexes = tasks[task]
      for (let i = 0; i < shardIndexes.length; i++) {
        if (shards[shardIndexes[i]].sourceId === source.id) count += counted[task][i]
      }
    }
    selections.push({ source, count, shards: NO_RUNS })
  }
  return selections
}

export function mergeRuns(
  { sources, shards }: Catalogue,
  sourceIds: SourceFilter,
  found: readonly ShardRuns[],
): SourceSelection[] {
  const wanted = sources.filter(({ id }) => holdsFor({ sourceIds }, id))
  return wanted.map((source) => {
    const own = found.filter(({ shardIndex }) => shards[shardIndex].sourceId === source.id)
    const count = own.reduce((sum, { runs }) => sum + recipientCountOf(runs), 0)
    return { source, count, shards: own }
  })
}

const NO_RUNS: readonly ShardRuns[] = []
