/**
 * The operations on alerts that are kept: each is a context, which is counted, watched, backed up and replicated
 * as other contexts are.
 *
 * @module
 */
import type { Alert } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import type { Answer } from '../../format/answer.js'
import { warningHeaders } from '../../format/warning-headers.js'
import {
  type AlertDocument,
  AlertIdSchema,
  AlertListSchema,
  AlertPageSchema,
  AlertSchema,
  type AlertSummary,
} from '../../interface/alerts.js'
import { bind } from '../../interface/bind.js'
import type { AlertReference, Area, ContextAlert, MapContext } from '../../interface/context.js'
import type { UnknownMembers } from '../../interface/unknown-members.js'
import type { Warning } from '../../interface/warnings.js'
import { limits } from '../../limits.js'
import { outlinesOf } from '../../outline/outline.js'
import type { ClipRunner } from '../../pool/tasks.js'
import type { Asker } from '../../selection/access.js'
import type { NamedAreas } from '../../selection/named-areas.js'
import type { JsonObject } from '../../selection/parse.js'
import { Remarks } from '../../selection/remarks.js'
import { validate } from '../../selection/validate.js'
import { type AlertHeader, type WrittenContext, writtenContext } from '../../store/documents.js'
import type { Store } from '../../store/store.js'
import { areaFeatures } from '../area-features.js'
import { AREAS, type ReadContext } from '../contexts.js'
import { columnsOf, documentAnswer, tableOf, taggedHeaders } from '../document-answer.js'
import type { Execute } from '../execute.js'
import {
  alertContextId,
  contextAt,
  createSuperseders,
  type KeptAlert,
  keptAlert,
  keptAlerts,
  referenceTo,
  referredTo,
  supersedersOf,
} from './kept-alerts.js'
import { alertAreas, drawingOf, readSentAlert, type SentAlert } from './sent-alert.js'

interface AlertOperationsOptions {
  readonly store: Store
  readonly read: ReadContext
  /** The areas that geocodes name. */
  readonly areas: () => NamedAreas | undefined
  /** Draws outlines. */
  readonly runner: ClipRunner
  readonly unknownMembers?: UnknownMembers | undefined
}

export function alertOperations(options: AlertOperationsOptions): {
  PutAlertRequest: Execute
  GetAlertRequest: Execute
  GetAlertsRequest: Execute
  DeleteAlertRequest: Execute
} {
  const { store, read, areas, runner, unknownMembers } = options

  async function answerOf(
    id: string,
    alert: AlertHeader,
    caller: Asker,
    remarks: Remarks,
    written?: WrittenContext,
  ): Promise<Answer> {
    const counted = await read(id, caller, written)
    const supersededBy = supersedersOf({ id, name: undefined, areaCount: 0, alert }, all())
    const references = alert.references?.map((reference) => ({
      ...reference,
      IsKept: referredTo(store, reference) !== undefined,
    }))
    return alertAnswer(counted, { references, supersededBy, warnings: remarks.warnings })
  }

  const all = () => keptAlerts(store)

  function found(request: JsonObject, { onUnknown }: Remarks): KeptAlert {
    const { Identifier, sender } = bind(AlertIdSchema, request, onUnknown)
    return keptAlert(store, identifierOf(Identifier), sender, FIELDS)
  }

  return {
    async PutAlertRequest(request, caller) {
      const remarks = new Remarks(unknownMembers)
      const sent = readSentAlert(request, remarks)
      const id = alertContextId(sent.alert.identifier, sent.alert.sender)
      const before = keptBefore(store, sent)
      if (before !== undefined) return answerOf(id, before, caller, remarks)
      const drawn = drawingOf(sent)
      for (const { code, message, path } of drawn.warnings) remarks.add(code, message, path)
      const drawnAreas = alertAreas(sent.alert, drawn, areas())
      const header = headerOf(sent)
      const context = writtenContext(
        {
          Id: id,
          ContextName: nameOf(sent.alert),
          Areas: await withOutlines(drawnAreas, runner, caller, remarks),
          Alert: alertMember(sent, header),
        },
        header,
      )
      try {
        await store.change({ kind: 'context', context, mayReplace: false })
      } catch (fault) {
        if (!(fault instanceof ServiceError) || fault.code !== 'AlreadyExists') throw fault
        // Another request was faster.
        const other = keptBefore(store, sent)
        if (other === undefined) throw fault
        return answerOf(id, other, caller, remarks)
      }
      caller.changed?.({ contextId: id, alert: header.digest })
      return answerOf(id, header, caller, remarks, context)
    },
    async GetAlertRequest(request, caller) {
      const remarks = new Remarks(unknownMembers)
      const { id, alert } = found(request, remarks)
      return answerOf(id, alert, caller, remarks)
    },
    async GetAlertsRequest(request) {
      const { onUnknown } = new Remarks(unknownMembers)
      const { Skip = 0, Take = limits.contextPageDefaultCount } = bind(
        AlertPageSchema,
        request,
        onUnknown,
      )
      const kept = all()
      const taken = kept.slice(Skip, Skip + Take)
      const page = { offset: Skip, total: kept.length }
      return alertListAnswer(taken, page, createSuperseders(kept))
    },
    async DeleteAlertRequest(request, caller) {
      const { id, alert } = found(request, new Remarks(unknownMembers))
      await store.change({ kind: 'deleteContext', id })
      caller.changed?.({ contextId: id, alert: alert.digest })
      return undefined
    },
  }
}

const FIELDS = { identifier: 'Identifier', sender: 'sender' } as const

function identifierOf(identifier: string | undefined): string {
  if (identifier !== undefined) return identifier
  throw new ServiceError('InvalidRequest', 'Identifier is missing', 'Identifier')
}

/**
 * The same alert, if it is kept already.
 *
 * @throws ServiceError  AlertConflict, if another one is: CAP has a message type for corrections
 */
function keptBefore(store: Store, { alert, digest }: SentAlert): AlertHeader | undefined {
  const there = contextAt(store, alert.identifier, alert.sender)
  if (there === undefined) return undefined
  if (there.header.alert?.digest === digest) return there.header.alert
  throw new ServiceError('AlertConflict', CONFLICT, 'Identifier')
}

const CONFLICT =
  'another alert of this sender, or the same one with other options, is kept under this Identifier, and it never ' +
  'changes: send an Update, which has an identifier of its own and names this one in its references, or delete it'

function headerOf({ alert, digest }: SentAlert): AlertHeader {
  const { identifier, sender, sent, status, msgType } = alert
  const references = alert.references.map(
    (reference): AlertReference => ({
      Sender: reference.sender,
      Identifier: reference.identifier,
      Sent: reference.sent,
    }),
  )
  const expires = expiresOf(alert)
  return {
    identifier,
    sender,
    sent: sent.text,
    status,
    msgType,
    ...(expires !== undefined && { expires }),
    ...(references.length > 0 && { references }),
    digest,
  }
}

/** When all parts have expired; undefined where a part never does. */
function expiresOf({ infos }: Alert): string | undefined {
  const times = infos.flatMap(({ expires }) => expires ?? [])
  if (times.length < infos.length || times.length === 0) return undefined
  return times.reduce((last, time) => (time.atMs > last.atMs ? time : last)).text
}

function alertMember({ cap }: SentAlert, header: AlertHeader): ContextAlert {
  const { identifier, sender, sent, status, msgType, expires, references } = header
  return {
    Identifier: identifier,
    Sender: sender,
    Sent: sent,
    Status: status,
    MsgType: msgType,
    ...(expires !== undefined && { Expires: expires }),
    ...(references !== undefined && { References: [...references] }),
    Cap: cap,
  }
}

function nameOf({ infos, identifier }: Alert): string {
  const [info] = infos
  const name = info?.headline || info?.event || identifier
  return name.slice(0, limits.contextNameCharCount)
}

/** The outline is for maps that cannot show drawings; circles are polygons in it. */
async function withOutlines(
  areas: readonly Area[],
  runner: ClipRunner,
  caller: Asker,
  remarks: Remarks,
): Promise<Area[]> {
  if (areas.length === 0) return []
  // Also all together, as `GetAlertChangesRequest` will read them.
  const features = areas.flatMap(({ Drawing }) => (Drawing as { features: object[] }).features)
  validate({ geoJSON: { type: 'FeatureCollection', features } })
  const layers = areas.map(({ Drawing }) => validate({ geoJSON: Drawing }).shapes.included)
  const outlines = await outlinesOf(layers, runner, caller)
  if (outlines === undefined) {
    remarks.add('OutlineMissing', 'the outlines of the areas cannot be drawn, and are left out')
    return [...areas]
  }
  return areas.map(({ Drawing, ...area }, at) => {
    const rings = outlines[at].Rings
    const isDrawn = (rings?.rings?.length ?? 0) > 0
    return { ...area, ...(isDrawn && { Geometry: rings }), Drawing }
  })
}

/** JSON leaves out what is undefined. */
type Written<Document> = { readonly [Name in keyof Document]: Document[Name] | undefined }

/** The members of an alert that its context does not have. */
interface AlertMembers {
  readonly references: AlertDocument['References'] | undefined
  readonly supersededBy: readonly KeptAlert[]
  /** The warnings about the request. */
  readonly warnings: readonly Warning[] | undefined
}

/** @param counted  the answer to a request for the context of the alert */
function alertAnswer(
  counted: Answer,
  { references, supersededBy, warnings }: AlertMembers,
): Answer {
  const context = JSON.parse(Buffer.from(counted.json() as Uint8Array).toString()) as MapContext
  const { Id, ContextName, Areas, Alert = {}, Warnings = [] } = context
  const { Identifier, Sender, Sent, Status, MsgType, Expires, Cap } = Alert
  const allWarnings = [...Warnings, ...(warnings ?? [])]
  const document: Written<AlertDocument> = {
    Identifier,
    Sender,
    Sent,
    Status,
    MsgType,
    Expires,
    References: references,
    SupersededBy: listed(supersededBy),
    ContextId: Id,
    ContextName,
    Areas,
    Cap,
    Warnings: allWarnings.length === 0 ? undefined : allWarnings,
  }
  const json = Buffer.from(JSON.stringify(document))
  const headers = {
    ...taggedHeaders(json),
    ...(allWarnings.length > 0 && { ...warningHeaders(allWarnings), 'Cache-Control': 'no-store' }),
  }
  return {
    ...documentAnswer({ json, columns: COLUMNS, table: AREAS, headers }),
    warnings: allWarnings.length === 0 ? undefined : allWarnings,
    ...(counted.records !== undefined && { records: () => counted.records?.() ?? [] }),
    geoJson: () => areaFeatures(() => context),
  }
}

function alertListAnswer(
  page: readonly KeptAlert[],
  { offset, total }: { readonly offset: number; readonly total: number },
  supersededBy: (alert: KeptAlert) => readonly KeptAlert[],
): Answer {
  const results = page.map((kept): Written<AlertSummary> => {
    const { identifier, sender, sent, status, msgType, expires } = kept.alert
    return {
      Identifier: identifier,
      Sender: sender,
      Sent: sent,
      Status: status,
      MsgType: msgType,
      Expires: expires,
      SupersededBy: listed(supersededBy(kept)),
      ContextId: kept.id,
      ContextName: kept.name,
      AreaCount: kept.areaCount,
    }
  })
  const list = { Offset: offset, Total: total, Results: results }
  const json = Buffer.from(JSON.stringify(list))
  return documentAnswer({
    json,
    columns: LIST_COLUMNS,
    table: SUMMARIES,
    headers: taggedHeaders(json),
  })
}

function listed(alerts: readonly KeptAlert[]) {
  return alerts.length === 0 ? undefined : alerts.map(({ alert }) => referenceTo(alert))
}

/** Warnings have a header; the alert as it came is no cell of a table. */
const COLUMNS = columnsOf(AlertSchema).filter((name) => !['Cap', 'Warnings'].includes(name))

const LIST_COLUMNS = columnsOf(AlertListSchema)

const SUMMARIES = tableOf('Results', columnsOf(AlertListSchema.properties.Results.items))
