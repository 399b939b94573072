/**
 * One recipient request, from its members to its answer. Read this file first: it has the stages in
 * order, and each stage is in the file of its name. Only the first, `parse`, has run before:
 * http/bind.ts calls it for the body.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import type { Shapes } from '../geometry/shapes.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import type { Caller, MissingShards, QueryRunner } from '../pool/tasks.js'
import type { Mask } from '../shard/mask.js'
import type { CountMode } from '../shard/select.js'
import { type Asker, refuseScope } from './access.js'
import type { Boundary, BoundaryRule } from './boundary.js'
import type { Catalogue } from './catalogue.js'
import { coverageOf, missingFor, withMissing } from './coverage.js'
import { dispatch } from './dispatch.js'
import { checkFreshness, type Freshness } from './freshness.js'
import { rowCountOf } from './list.js'
import type { Masks } from './masks.js'
import { mergeCounts, mergeRuns, type SourceSelection } from './merge.js'
import type { NamedAreas } from './named-areas.js'
import { isNamed, type NamedRuns, searchNamed } from './named-runs.js'
import { cutToPage, pageOf } from './page.js'
import type { JsonObject } from './parse.js'
import { remarkOnPlaces } from './places.js'
import { planTasks } from './plan.js'
import type { Remarks } from './remarks.js'
import { refuseUnknownSources } from './source-ids.js'
import { recipientAnswer } from './stream.js'
import { type Query, validate } from './validate.js'
import { type Views, viewFor } from './view-for.js'

/** What answers are made from: one snapshot at one moment, and the workers that hold it. */
export interface SelectionService {
  readonly catalogue: Catalogue
  readonly runner: QueryRunner
  readonly queryThreadCount: number
  /** How recipients count where a request does not say. */
  readonly countMode: () => CountMode
  /** Which boundary holds for a request. */
  readonly boundaryRule: BoundaryRule
  readonly masks: Masks
  /** The areas that requests may name; none unless given. */
  readonly areas?: (() => NamedAreas | undefined) | undefined
  /** What is known of who is in them; each is searched as it is drawn unless given. */
  readonly named?: NamedRuns
  /** Of what came since the snapshot, how many batches of changes it is with. */
  readonly moment: number
  /** Which batches these are (journal/batch.ts); 0 at moment 0. */
  readonly seal: number
  /** The snapshot at its other moments. */
  readonly views: Views<SelectionService>
  /** What becomes of members that a request does not know; refused unless given. */
  readonly unknownMembers?: UnknownMembers | undefined
  /** On a machine of a cluster alone. */
  readonly freshness?: Freshness | undefined
}

/**
 * The service of the snapshot that is served now. Another one may take its place at any time:
 * serve/served-snapshots.ts does that.
 */
export interface CurrentService {
  /** To ask something of it, hold it. */
  readonly newest: { readonly service: SelectionService }
  /** What to answer a caller from: the same for all that it asks, and there until it is over. */
  hold(caller: Caller): SelectionService
  /** Since when what a caller holds is answered from, in milliseconds since 1970. */
  heldSinceMs(caller: Caller): number
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
  caller: Asker,
): Promise<Answer> {
  try {
    const query = validate(request, service.unknownMembers, undefined, service.areas?.())
    refuseScope(caller, query.countsOnly)
    checkFreshness(service.freshness, !query.countsOnly, query.remarks)
    const countMode = query.countMode ?? service.countMode()
    const boundary = service.boundaryRule.for(query.clipToBoundary, caller.access)
    const { snapshotId } = service.catalogue
    const page = pageOf({ query, snapshotId, countMode, boundaryKey: boundary?.key })
    const missing = missingFor(query)
    const lists = query.countsOnly ? undefined : caller.access.lists
    lists?.begin(caller)
    const answerAt = (view: SelectionService) =>
      within(view, query, boundary, caller, (mask) =>
        search(view, query, countMode, mask, caller, missing).then((found) => {
          const { catalogue, moment, seal } = view
          const selections = withMissing(found, catalogue, missing)
          remarkOnPlaces(query, catalogue, selections, { boundary, mask })
          const listing = cutToPage(selections, page, { catalogue, moment, seal, mask })
          lists?.take(rowCountOf(listing.selections))
          const coverage = missing && coverageOf(selections, catalogue, missing)
          return recipientAnswer(view, query, listing, caller, coverage)
        }),
      )
    const view = viewFor(service, query, page?.start, caller)
    return view instanceof Promise ? view.then(answerAt) : answerAt(view)
  } catch (fault) {
    return Promise.reject(fault)
  }
}

/**
 * Who a request for a list selects, to be frozen: everybody, since it has no pages.
 *
 * @param memberNames  that a client is told of where it sends another one
 * @throws ServiceError  as a rejection
 */
export function selectForList(
  service: SelectionService,
  request: JsonObject,
  memberNames: readonly string[],
  caller: Asker,
): Promise<SelectedAll> {
  return selectAll(service, request, memberNames, caller, true)
}

/**
 * The same, to be counted in some way: only counts may leave the service.
 *
 * @throws ServiceError  as a rejection
 */
export function selectForCounts(
  service: SelectionService,
  request: JsonObject,
  memberNames: readonly string[],
  caller: Asker,
): Promise<SelectedAll> {
  return selectAll(service, request, memberNames, caller, false)
}

async function selectAll(
  service: SelectionService,
  request: JsonObject,
  memberNames: readonly string[],
  caller: Asker,
  isList: boolean,
): Promise<SelectedAll> {
  const query = validate(request, service.unknownMembers, memberNames, service.areas?.())
  const { remarks } = query
  refuseScope(caller, !isList)
  checkFreshness(service.freshness, isList, remarks)
  const countMode = query.countMode ?? service.countMode()
  const boundary = service.boundaryRule.for(query.clipToBoundary, caller.access)
  if (isList) caller.access.lists?.begin(caller)
  const view = await viewFor(service, query, undefined, caller)
  const selections = await within(view, query, boundary, caller, async (mask) => {
    const found = await search(view, query, countMode, mask, caller)
    remarkOnPlaces(query, view.catalogue, found, { boundary, mask })
    return found
  })
  return { selections, remarks, catalogue: view.catalogue, shapes: query.shapes }
}

interface SelectedAll {
  readonly selections: readonly SourceSelection[]
  /** What their shards are. */
  readonly catalogue: Catalogue
  readonly remarks: Remarks
  readonly shapes: Shapes
}

/** What a query leaves to the configuration, or does not say by itself. */
interface Selecting {
  readonly countMode: CountMode
  /** Nobody beyond it is selected; undefined is no boundary. */
  readonly boundary: Boundary | undefined
}

/**
 * Who a valid query selects, by source.
 *
 * @throws ServiceError  at once or as a rejection
 */
export function select(
  service: SelectionService,
  query: Query,
  { countMode, boundary }: Selecting,
  caller: Caller,
): Promise<readonly SourceSelection[]> {
  return within(service, query, boundary, caller, (mask) =>
    search(service, query, countMode, mask, caller),
  )
}

/** Goes on with who is there for a query, at once where that is known. */
function within<Value>(
  service: SelectionService,
  query: Query,
  boundary: Boundary | undefined,
  caller: Caller,
  goOn: (mask: Mask | null) => Promise<Value>,
): Promise<Value> {
  refuseUnknownSources(query.sourceReferences, service.catalogue)
  if (boundary === undefined) return goOn(null)
  const mask = service.masks.of(boundary, caller)
  return mask instanceof Promise ? mask.then(goOn) : goOn(mask)
}

function search(
  service: SelectionService,
  query: Query,
  countMode: CountMode,
  mask: Mask | null,
  caller: Caller,
  missing?: MissingShards,
): Promise<readonly SourceSelection[]> {
  const { named } = service
  if (named === undefined || mask !== null || missing !== undefined || !isNamed(query)) {
    return searchShapes(service, query, countMode, mask, caller, missing)
  }
  return searchNamed(named, query, countMode, caller, (drawn, within) =>
    searchShapes(service, drawn, countMode, within, caller),
  )
}

function searchShapes(
  { catalogue, moment, runner, queryThreadCount }: SelectionService,
  query: Query,
  countMode: CountMode,
  mask: Mask | null,
  caller: Caller,
  missing?: MissingShards,
): Promise<readonly SourceSelection[]> {
  const { countsOnly, sourceIds } = query
  const counting = { countMode, mask, moment, missing }
  if (countsOnly) {
    const tasks = planTasks('count', query, counting, catalogue, queryThreadCount)
    return dispatch(runner, tasks, caller, (counted) =>
      mergeCounts(catalogue, sourceIds, tasks, counted),
    )
  }
  const tasks = planTasks('select', query, counting, catalogue, queryThreadCount)
  return dispatch(runner, tasks, caller, (selected) =>
    mergeRuns(catalogue, sourceIds, tasks, selected),
  )
}
