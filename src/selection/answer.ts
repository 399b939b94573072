/**
 * One recipient request, from its members to its answer. Read this file first: it has the stages in
 * order, and each stage is in the file of its name. Only the first, `parse`, has run before:
 * http/bind.ts calls it for the body.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import type { Caller, QueryRunner } from '../pool/messages.js'
import type { CountMode } from '../shard/select.js'
import type { Catalogue } from './catalogue.js'
import { dispatch } from './dispatch.js'
import { mergeCounts, mergeRuns, type SourceSelection } from './merge.js'
import { cutToPage, pageOf } from './page.js'
import type { JsonObject } from './parse.js'
import { planTasks } from './plan.js'
import { refuseUnknownSources } from './source-ids.js'
import { recipientAnswer } from './stream.js'
import { type Query, validate } from './validate.js'

/** What answers are made from: one snapshot, and the workers that hold it. */
export interface SelectionService {
  readonly catalogue: Catalogue
  readonly runner: QueryRunner
  readonly queryThreadCount: number
  /** How recipients count where a request does not say. */
  readonly countMode: () => CountMode
}

/**
 * The service of the snapshot that is served now. Another one may take its place at any time:
 * serve/front-current.ts does that.
 */
export interface CurrentService {
  /** To ask something of it, hold it. */
  readonly newest: { readonly service: SelectionService }
  /** What to answer a caller from: the same for all that it asks, and there until it is over. */
  hold(caller: Caller): SelectionService
  /** Keeps the newest while `work` goes on. */
  use<Value>(work: (service: SelectionService) => Promise<Value>): Promise<Value>
}

/**
 * Answers who is inside the shapes of a request. Nothing waits up to the dispatch, and behind it these
 * are no async functions: each costs as much memory as all else of a small request.
 *
 * @throws ServiceError  as a rejection
 */
export function answer(
  service: SelectionService,
  request: JsonObject,
  caller: Caller,
): Promise<Answer> {
  try {
    const query = validate(request)
    const countMode = query.countMode ?? service.countMode()
    const page = pageOf({ query, snapshotId: service.catalogue.snapshotId, countMode })
    return select(service, query, countMode, caller).then((selections) =>
      recipientAnswer(service, query.countsOnly, cutToPage(selections, page), caller),
    )
  } catch (fault) {
    return Promise.reject(fault)
  }
}

/**
 * Who a valid query selects, by source.
 *
 * @throws ServiceError  at once or as a rejection
 */
export function select(
  { catalogue, runner, queryThreadCount }: SelectionService,
  query: Query,
  countMode: CountMode,
  caller: Caller,
): Promise<readonly SourceSelection[]> {
  const { countsOnly, sourceIds, sourceReferences } = query
  refuseUnknownSources(sourceReferences, catalogue)
  if (countsOnly) {
    const tasks = planTasks('count', query, countMode, catalogue, queryThreadCount)
    return dispatch(runner, tasks, caller, (counted) =>
      mergeCounts(catalogue, sourceIds, tasks, counted),
    )
  }
  const tasks = planTasks('select', query, countMode, catalogue, queryThreadCount)
  return dispatch(runner, tasks, caller, (selected) =>
    mergeRuns(catalogue, sourceIds, tasks, selected),
  )
}
