/**
 * The operations on map contexts. A stored context is answered with the recipients that are inside each of its areas
 * now.
 *
 * @module
 */
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { warningHeaders } from '../format/warning-headers.js'
import { bind } from '../interface/bind.js'
import {
  type Area,
  AreaSchema,
  areaColumns,
  type Contact,
  type MapContext,
  MapContextIdSchema,
  MapContextListSchema,
  MapContextPageSchema,
  MapContextSchema,
} from '../interface/context.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { Asker } from '../selection/access.js'
import { checkFreshness, type Freshness } from '../selection/freshness.js'
import type { JsonObject } from '../selection/parse.js'
import { remarkOnExtents } from '../selection/places.js'
import { Remarks } from '../selection/remarks.js'
import { validate } from '../selection/validate.js'
import {
  NO_GUID,
  parseGuid,
  shapeOf,
  type WrittenContext,
  writtenContext,
} from '../store/documents.js'
import type { Store, StoredContext } from '../store/store.js'
import { isAlert } from './alerts/kept-alerts.js'
import { areaFeatures } from './area-features.js'
import {
  columnsOf,
  documentAnswer,
  tableOf,
  taggedHeaders,
  withWarnings,
} from './document-answer.js'
import type { Execute } from './execute.js'
import type { Basis, CountedPlaces, LiveCounts, ShapeState } from './live-counts.js'

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
 * Refuses members of alerts, and a context with the Id of an alert: it would be counted by its outline.
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

const SUMMARIES = tableOf('Results', columnsOf(MapContextListSchema.properties.Results.items))

/**
 * @param written  what was just stored, and may have been changed since; without it, what is stored now
 * @throws ServiceError  NotFound
 */
export type ReadContext = (id: string, asker: Asker, written?: WrittenContext) => Promise<Answer>

/** @param freshness  on a machine of a cluster alone */
export function contextReader(
  store: Store,
  counts: LiveCounts,
  freshness?: Freshness,
): ReadContext {
  // The same stored text with the same basis always has the same answer.
  const kept = new LRUCache<string, KeptAnswer>({
    maxSize: limits.keptAnswerBytes,
    sizeCalculation: ({ json }) => json.byteLength,
  })
  return async (id, asker, written) => {
    const remarks = new Remarks()
    checkFreshness(freshness, false, remarks)
    const isLagging = remarks.warnings !== undefined
    const basis = counts.basis(asker.access)
    // Keys with a boundary each have an answer of their own.
    const name = asker.access.boundary === undefined ? id : `${id} ${basis.boundaryKey}`
    const last = kept.get(name)
    const version = written?.header.version ?? store.contextVersion(id)
    const isKept = last !== undefined && isSame(last, basis) && last.version === version
    if (isKept && !isLagging) {
      return contextAnswer(last)
    }
    const stored = written === undefined ? store.context(id) : asStored(written)
    if (stored === undefined) throw noSuchContext()
    const { context, isFinal } = await countedContext(stored, counts, basis, asker, remarks)
    const json = Buffer.from(JSON.stringify(context))
    const headers = {
      ...(isLagging ? { 'Cache-Control': 'no-store' } : taggedHeaders(json)),
      ...warningHeaders(context.Warnings),
    }
    const { version: storedVersion } = stored
    const { Warnings: warnings } = context
    const answer = { id, json, headers, warnings, version: storedVersion, ...basis }
    if (isFinal && !isLagging) kept.set(name, answer)
    return contextAnswer(answer)
  }
}

export function noSuchContext(): ServiceError {
  return new ServiceError('NotFound', 'there is no context with this Id')
}

function asStored({ header, json, shapeHashes }: WrittenContext): StoredContext {
  return { version: header.version, json: Buffer.from(json), shapeHashes }
}

interface KeptAnswer extends Basis {
  /** The Id of the context. */
  readonly id: string
  readonly json: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly warnings: MapContext['Warnings'] | undefined
  readonly version: string
}

function isSame(left: Basis, right: Basis): boolean {
  return (
    left.snapshotId === right.snapshotId &&
    left.sequence === right.sequence &&
    left.countMode === right.countMode &&
    left.suppressionVersion === right.suppressionVersion &&
    left.boundaryKey === right.boundaryKey
  )
}

function contextAnswer({ id, json, headers, warnings, snapshotId }: KeptAnswer): Answer {
  const facts = () => ({ snapshotId, contextId: id })
  return {
    ...documentAnswer({ json, columns: COLUMNS, table: AREAS, headers }),
    warnings,
    records: () => [{ facts }],
    geoJson: () => areaFeatures(() => JSON.parse(Buffer.from(json).toString()) as MapContext),
  }
}

/** Warnings have a header. Where a context is an alert, tables do not say. */
const COLUMNS = columnsOf(MapContextSchema).filter((name) => !['Alert', 'Warnings'].includes(name))

const AREA_MEMBERS = columnsOf(AreaSchema)

export const AREAS = tableOf('Areas', areaColumns)

/** `isFinal` where no area is uncertain. */
async function countedContext(
  { json, shapeHashes }: StoredContext,
  counts: LiveCounts,
  basis: Basis,
  asker: Asker,
  remarks: Remarks,
): Promise<{ context: MapContext; isFinal: boolean }> {
  const context = JSON.parse(Buffer.from(json).toString()) as MapContext
  const { Areas } = context
  if (Areas === undefined) return { context: { ...context, ...warned(remarks) }, isFinal: true }
  const shapes = Areas.flatMap((area, i) => {
    const hash = shapeHashes[i]
    const geometry = shapeOf(area)
    return geometry === undefined || hash === null ? [] : [{ hash, geometry }]
  })
  // Before the pause, after which there may be another snapshot.
  const nowhere = counts.nowhere()
  const places = counts.places(asker.access)
  const states = await counts.of(shapes, basis, asker)
  const areas = Areas.map((area, i) => {
    const hash = shapeHashes[i]
    return countedArea(area, (hash === null ? undefined : states.get(hash)) ?? nowhere)
  })
  remarkOnAreas(areas, places, remarks)
  return {
    context: { ...context, Areas: areas, ...warned(remarks) },
    isFinal: [...states.values()].every(({ isFresh }) => isFresh),
  }
}

const warned = ({ warnings }: Remarks) => warnings && { Warnings: warnings }

/** An area with its computed members, in the order of the schema. */
function countedArea(area: Area, state: ShapeState): Area {
  const { contacts, isUpdating, hasFailed, isInvalid } = state
  const all: Area = {
    ...area,
    IsUpdatingContactList: isUpdating,
    ...(contacts !== undefined && {
      Contacts: [...contacts],
      ContactTotalCount: totalOf(contacts),
    }),
    HasContactCountError: hasFailed,
    HasInvalidShapeError: isInvalid,
  }
  const members = all as Record<string, unknown>
  const names = AREA_MEMBERS.filter((name) => members[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, members[name]]))
}

function totalOf(contacts: readonly Contact[]): number {
  return contacts.reduce((sum, { Count = 0 }) => sum + Count, 0)
}

/** Remarks on areas that have been counted. */
function remarkOnAreas(
  areas: readonly Area[],
  { catalogue, boundary }: CountedPlaces,
  remarks: Remarks,
): void {
  for (const [i, area] of areas.entries()) {
    if (!remarks.hasRoom) break
    const { Drawing, ContactTotalCount, HasInvalidShapeError } = area
    const shape = shapeOf(area)
    if (shape === undefined) {
      remarks.add('NoGeometry', 'has no geometry, and nobody is in it', `Areas[${i}]`)
    } else if (ContactTotalCount === 0 && HasInvalidShapeError === false) {
      // It can be read, since it was counted.
      const query = validate({ geoJSON: shape })
      const member = Drawing === undefined ? 'Geometry' : 'Drawing'
      remarkOnExtents(query, catalogue, boundary)
      for (const { Code, Message = '' } of query.remarks.warnings ?? []) {
        if (Code !== undefined) remarks.add(Code, Message, `Areas[${i}].${member}`)
      }
    }
  }
}
