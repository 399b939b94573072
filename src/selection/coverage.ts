/**
 * The part of the recipients that an answer covers, where a request is content with a part.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { MissingShards } from '../pool/tasks.js'
import type { Catalogue } from './catalogue.js'
import type { SourceSelection } from './merge.js'
import type { Query } from './validate.js'

/**
 * What takes the shards that could not be reached; undefined for a request that wants all.
 *
 * @throws ServiceError  InvalidRequest where a page is asked for: the next one could begin anywhere
 */
export function missingFor({ isPartial, limit, after }: Query): MissingShards | undefined {
  if (!isPartial) return undefined
  if (limit === undefined && after === undefined) return new Set()
  const field = limit === undefined ? 'after' : 'limit'
  const problem = `${field} is for pages, and partial is for whole answers: leave one of them out`
  throw new ServiceError('InvalidRequest', problem, field)
}

/** Says of each source whether a part of it is missing. */
export function withMissing(
  selections: readonly SourceSelection[],
  { shards }: Catalogue,
  missing: MissingShards | undefined,
): readonly SourceSelection[] {
  if (missing === undefined || missing.size === 0) return selections
  const sourceIds = new Set([...missing].map((index) => shards[index].sourceId))
  return selections.map((selection) =>
    sourceIds.has(selection.source.id) ? { ...selection, isPartial: true } : selection,
  )
}

/**
 * @returns the share of recipients that was looked at, of the snapshot and of the sources that are answered for: from 0
 *   to 1, rounded down to four digits, so that it is 1 only where nobody is missing
 */
export function coverageOf(
  selections: readonly SourceSelection[],
  { shards }: Catalogue,
  missing: MissingShards,
): string {
  const sourceIds = new Set(selections.map(({ source }) => source.id))
  let total = 0
  let lost = 0
  for (const [index, { sourceId, recipientCount = 0 }] of shards.entries()) {
    if (!sourceIds.has(sourceId)) continue
    total += recipientCount
    if (missing.has(index)) lost += recipientCount
  }
  return lost === 0 ? '1' : String(Math.floor(1e4 * (1 - lost / total)) / 1e4)
}
