/**
 * Fifth stage: makes one record for each source from the results of its shards. Sources without a
 * recipient inside have a record, too.
 *
 * @module
 */
import type { SourceSummary } from '../format/recipients.js'
import { holdsFor, type SourceFilter } from '../geometry/shapes.js'
import type { SelectionTask } from '../pool/tasks.js'
import { recipientCountOf } from '../shard/runs.js'
import type { Catalogue, CatalogueSource } from './catalogue.js'

/** What is selected of one shard, as [start, end) pairs of recipient indexes. */
export interface ShardRuns {
  readonly shardIndex: number
  readonly runs: Uint32Array
}

/** What a source contributes to an answer. */
export interface SourceSelection {
  readonly source: CatalogueSource
  readonly count: number
  /** In ascending order; empty when only counts were asked for. */
  readonly shards: readonly ShardRuns[]
  /** Whether a part of the source could not be searched. */
  readonly isPartial?: boolean
}

/** A source, as the answer describes it. */
export function summaryOf({ source, count, isPartial }: SourceSelection): SourceSummary {
  return { sourceId: source.id, label: source.label, count, ...(isPartial && { isPartial }) }
}

/** @param counted  of each task, how many recipients of each of its shards are inside */
export function mergeCounts(
  { sources, shards }: Catalogue,
  sourceIds: SourceFilter,
  tasks: readonly SelectionTask<'count'>[],
  counted: readonly (readonly number[])[],
): SourceSelection[] {
  const selections: SourceSelection[] = []
  for (const source of sources) {
    if (sourceIds !== null && !sourceIds.includes(source.id)) continue
    let count = 0
    for (let task = 0; task < tasks.length; task++) {
      const { shardIndexes } = tasks[task]
      for (let i = 0; i < shardIndexes.length; i++) {
        if (shards[shardIndexes[i]].sourceId === source.id) count += counted[task][i]
      }
    }
    selections.push({ source, count, shards: NO_RUNS })
  }
  return selections
}

/** @param selected  of each task, which recipients of each of its shards are inside */
export function mergeRuns(
  { sources, shards }: Catalogue,
  sourceIds: SourceFilter,
  tasks: readonly SelectionTask<'select'>[],
  selected: readonly (readonly Uint32Array[])[],
): SourceSelection[] {
  const found = tasks.flatMap(({ shardIndexes }, task) =>
    shardIndexes.map((shardIndex, i) => ({ shardIndex, runs: selected[task][i] })),
  )
  found.sort((a, b) => a.shardIndex - b.shardIndex)
  const wanted = sources.filter(({ id }) => holdsFor({ sourceIds }, id))
  return wanted.map((source) => {
    const own = found.filter(({ shardIndex }) => shards[shardIndex].sourceId === source.id)
    const count = own.reduce((sum, { runs }) => sum + recipientCountOf(runs), 0)
    return { source, count, shards: own }
  })
}

const NO_RUNS: readonly ShardRuns[] = []
