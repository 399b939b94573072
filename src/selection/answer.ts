/**
 * One recipient request, from its bytes to its answer. Read this first: the stages are here, in
 * order, each in the file of its name.
 *
 * @module
 */
import type { Format } from '../format/negotiate.js'
import { csvCounts, jsonCounts } from '../format/recipients.js'
import { limits } from '../limits.js'
import type { QueryRunner } from '../pool/messages.js'
import type { CountMode } from '../shard/select.js'
import type { Catalogue } from './catalogue.js'
import { dispatchCounts, dispatchRuns } from './dispatch.js'
import { merge } from './merge.js'
import { parse } from './parse.js'
import { planTasks } from './plan.js'
import type { Reply, ReplyHeaders } from './reply.js'
import { refuseUnknownSources } from './source-ids.js'
import { streamList, summaryOf } from './stream.js'
import { validate } from './validate.js'

/** What answers are made from: one snapshot, and the workers that hold it. */
export interface SelectionService {
  readonly catalogue: Catalogue
  readonly runner: QueryRunner
  readonly queryThreadCount: number
  /** How recipients count where a request does not say. */
  readonly countMode: CountMode
}

/**
 * Answers who is inside the shapes of `body`.
 *
 * @throws ServiceError  as long as no answer has begun
 */
export async function answer(
  service: SelectionService,
  body: Uint8Array,
  format: Format,
  reply: Reply,
): Promise<void> {
  const { catalogue, runner } = service
  const deadlineMs = performance.now() + limits.requestMs
  const query = validate(parse(body))
  refuseUnknownSources(query.sourceReferences, catalogue)
  const { countsOnly, sourceIds, countMode = service.countMode } = query
  const plan = planTasks(query, countMode, catalogue, service.queryThreadCount)
  const dispatch = countsOnly ? dispatchCounts : dispatchRuns
  const found = await dispatch(runner, plan, deadlineMs)
  if (reply.gone) return
  const selections = merge(catalogue, sourceIds, found)
  const headers = headersFor(format, catalogue.snapshotId)
  if (countsOnly) {
    const summaries = selections.map(summaryOf)
    reply.send(200, headers, format === 'csv' ? csvCounts(summaries) : jsonCounts(summaries))
  } else {
    await streamList(runner, selections, format, reply.begin(200, headers))
  }
}

const CONTENT_TYPES = { json: 'application/json; charset=utf-8', csv: 'text/csv' } as const

function headersFor(format: Format, snapshotId: string): ReplyHeaders {
  const headers = {
    'Content-Type': CONTENT_TYPES[format],
    'X-Snapshot': snapshotId,
    // Numbers and positions of people: no cache on the way may keep them.
    'Cache-Control': 'no-store',
  }
  if (format === 'json') return headers
  return { ...headers, 'Content-Disposition': 'attachment;filename=RecipientRequest.csv' }
}
