/**
 * Fifth stage: makes one record for each source from the results of its shards.
 *
 * @module
 */
import { holdsFor, type SourceFilter } from '../geometry/shapes.js'
import { recipientCountOf } from '../shard/runs.js'
import type { Catalogue, CatalogueSource } from './catalogue.js'
import type { ShardCount, ShardRuns } from './dispatch.js'

/** What a source contributes to an answer. */
export interface SourceSelection {
  readonly source: CatalogueSource
  readonly count: number
  /** Empty when only counts were asked for. */
  readonly shards: readonly ShardRuns[]
}

/** One entry a source that is answered for, those without a recipient inside among them. */
export function merge(
  { sources, shards }: Catalogue,
  sourceIds: SourceFilter,
  found: readonly (ShardCount | ShardRuns)[],
): SourceSelection[] {
  const wanted = sources.filter(({ id }) => holdsFor({ sourceIds }, id))
  return wanted.map((source) => {
    const own = found.filter(({ shardIndex }) => shards[shardIndex].sourceId === source.id)
    return {
      source,
      count: own.reduce((sum, part) => sum + countOf(part), 0),
      shards: own.filter((part) => 'runs' in part),
    }
  })
}

function countOf(part: ShardCount | ShardRuns): number {
  return 'count' in part ? part.count : recipientCountOf(part.runs)
}
