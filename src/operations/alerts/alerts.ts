/**
 * The operations on alerts that are kept: each is a context, which is counted, watched, backed up and agreed on
 * as other contexts are.
 *
 * @module
 */
import type { Alert } from '../../cap/model.js'
import { ServiceError } from '../../errors.js'
import type { Answer } from '../../format/answer.js'
import { AlertIdSchema, AlertPageSchema } from '../../interface/alerts.js'
import { bind } from '../../interface/bind.js'
import type { AlertReference, Area, ContextAlert } from '../../interface/context.js'
import type { UnknownMembers } from '../../interface/unknown-members.js'
import { limits } from '../../limits.js'
import { outlinesOf } from '../../outline/areas.js'
import type { ClipRunner } from '../../pool/messages.js'
import type { Asker } from '../../selection/access.js'
import type { NamedAreas } from '../../selection/named-areas.js'
import type { JsonObject } from '../../selection/parse.js'
import { Remarks } from '../../selection/remarks.js'
import { validate } from '../../selection/validate.js'
import type { Store } from '../../store/store.js'
import {
  type AlertHeader,
  type WrittenContext,
  writtenContext,
} from '../../store/written-context.js'
import type { ReadContext } from '../context-reader.js'
import type { Execute } from '../execute.js'
import { alertAnswer, alertListAnswer } from './alert-answers.js'
import { alertAreas } from './alert-areas.js'
import { alertContextId } from './alert-ids.js'
import {
  contextAt,
  createSuperseders,
  type KeptAlert,
  keptAlert,
  keptAlerts,
  referredTo,
  supersedersOf,
} from './kept-alerts.js'
import { drawingOf, readSentAlert, type SentAlert } from './sent-alert.js'

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
        // Somebody else was a moment faster.
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
 * @throws ServiceError  AlertConflict, where another one is: CAP has a message of its own for a correction
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

/** When all of it is over; undefined where a part has no end. */
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

/** Maps that read nothing else show the outline; circles are polygons in it. */
async function withOutlines(
  areas: readonly Area[],
  runner: ClipRunner,
  caller: Asker,
  remarks: Remarks,
): Promise<Area[]> {
  if (areas.length === 0) return []
  // All together as well: what is kept can be compared with what comes later.
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
