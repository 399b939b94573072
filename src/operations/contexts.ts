/**
 * The operations on map contexts.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { bind } from '../interface/bind.js'
import {
  type MapContext,
  MapContextIdSchema,
  MapContextListSchema,
  MapContextPageSchema,
  MapContextSchema,
} from '../interface/context.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { JsonObject } from '../selection/parse.js'
import { Remarks } from '../selection/remarks.js'
import { NO_GUID, parseGuid } from '../store/guid.js'
import type { Store } from '../store/store.js'
import { writtenContext } from '../store/written-context.js'
import { isAlert } from './alerts/kept-alerts.js'
import type { ReadContext } from './context-reader.js'
import { columnsOf, documentAnswer, type Row, taggedHeaders } from './document-answer.js'
import type { Execute } from './execute.js'
import { withWarnings } from './with-warnings.js'

export function contextOperations(
  store: Store,
  read: ReadContext,
  unknownMembers?: UnknownMembers,
): {
  GetMapContextRequest: Execute
  GetMapContextsRequest: Execute
  PostMapContextRequest: Execute
  PutMapContextRequest: Execute
  DeleteMapContextRequest: Execute
} {
  const write =
    (mayReplace: boolean): Execute =>
    async (request, caller) => {
      const remarks = new Remarks(unknownMembers)
      const sent = bind(MapContextSchema, request, remarks.onUnknown)
      refuseAlert(sent, store)
      const context = writtenContext(sent)
      await store.change({ kind: 'context', context, mayReplace })
      caller.changed?.({ contextId: context.id })
      return withWarnings(await read(context.id, caller, context), remarks)
    }
  return {
    async GetMapContextRequest(request, caller) {
      const remarks = new Remarks(unknownMembers)
      return withWarnings(await read(contextIdOf(request, remarks), caller), remarks)
    },
    async GetMapContextsRequest(request) {
      const remarks = new Remarks(unknownMembers)
      return withWarnings(listAnswer(store, request, remarks), remarks)
    },
    PostMapContextRequest: write(false),
    PutMapContextRequest: write(true),
    async DeleteMapContextRequest(request, caller) {
      const id = contextIdOf(request, new Remarks(unknownMembers))
      await store.change({ kind: 'deleteContext', id })
      caller.changed?.({ contextId: id })
      return undefined
    },
  }
}

/**
 * Refuses what only an alert has, and a context in the place of one: it would be counted by its outline.
 *
 * @throws ServiceError
 */
function refuseAlert({ Id = '', Alert, Areas = [] }: MapContext, store: Store): void {
  const drawn = Areas.findIndex(({ Drawing }) => Drawing !== undefined)
  if (Alert !== undefined || drawn >= 0) {
    const field = Alert === undefined ? `Areas[${drawn}].Drawing` : 'Alert'
    throw new ServiceError('InvalidRequest', `${field} ${ONLY_OF_ALERTS}`, field)
  }
  const id = parseGuid(Id)
  if (id === undefined || !isAlert(store, id)) return
  throw new ServiceError('AlertConflict', IS_ALERT, 'Id')
}

const ONLY_OF_ALERTS =
  'is there for alerts alone: keep them by PUT /api/alerts/{Identifier}, and leave it out here'
const IS_ALERT =
  'the context of this Id is an alert, which stays as it is: give the context another Id, or delete the alert'

/** @throws ServiceError  where it is missing or no Guid */
export function contextIdOf(
  request: JsonObject,
  { onUnknown }: Pick<Remarks, 'onUnknown'>,
): string {
  const { Id } = bind(MapContextIdSchema, request, onUnknown)
  const id = Id === undefined ? undefined : parseGuid(Id)
  if (id !== undefined) return id
  const problem = Id === undefined ? 'is missing' : NO_GUID
  throw new ServiceError('InvalidRequest', `Id ${problem}`, 'Id')
}

function listAnswer(store: Store, request: JsonObject, { onUnknown }: Remarks) {
  const page = bind(MapContextPageSchema, request, onUnknown)
  const { Skip = 0, Take = limits.contextPageDefaultCount } = page
  const { totalCount, summaries } = store.page(Skip, Take)
  const list = { Offset: Skip, Total: totalCount, Results: summaries }
  const json = Buffer.from(JSON.stringify(list))
  const headers = taggedHeaders(json)
  return documentAnswer({ json, columns: LIST_COLUMNS, table: SUMMARIES, headers })
}

const LIST_COLUMNS = columnsOf(MapContextListSchema)

const SUMMARIES = {
  columns: columnsOf(MapContextListSchema.properties.Results.items),
  rows: ({ Results = [] }: Row) => Results as readonly Row[],
}
