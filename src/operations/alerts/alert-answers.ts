/**
 * Kept alerts as they are answered.
 *
 * @module
 */
import type { Answer } from '../../format/answer.js'
import { warningHeaders } from '../../format/warning-headers.js'
import {
  type AlertDocument,
  AlertListSchema,
  AlertSchema,
  type AlertSummary,
} from '../../interface/alerts.js'
import type { MapContext } from '../../interface/context.js'
import type { Warning } from '../../interface/warnings.js'
import { areaFeatures } from '../area-features.js'
import { AREAS } from '../context-reader.js'
import { columnsOf, documentAnswer, type Row, taggedHeaders } from '../document-answer.js'
import { type KeptAlert, referenceTo } from './kept-alerts.js'

/** JSON leaves out what is undefined. */
type Written<Document> = { readonly [Name in keyof Document]: Document[Name] | undefined }

/** What is said of an alert beside its context. */
interface AboutAlert {
  readonly references: AlertDocument['References'] | undefined
  readonly supersededBy: readonly KeptAlert[]
  /** Of the request. */
  readonly warnings: readonly Warning[] | undefined
}

/** @param counted  the answer to a request for the context of the alert */
export function alertAnswer(
  counted: Answer,
  { references, supersededBy, warnings }: AboutAlert,
): Answer {
  const context = JSON.parse(Buffer.from(counted.json() as Uint8Array).toString()) as MapContext
  const { Id, ContextName, Areas, Alert = {}, Warnings = [] } = context
  const { Identifier, Sender, Sent, Status, MsgType, Expires, Cap } = Alert
  const told = [...Warnings, ...(warnings ?? [])]
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
    Warnings: told.length === 0 ? undefined : told,
  }
  const json = Buffer.from(JSON.stringify(document))
  const headers = {
    ...taggedHeaders(json),
    ...(told.length > 0 && { ...warningHeaders(told), 'Cache-Control': 'no-store' }),
  }
  return {
    ...documentAnswer({ json, columns: COLUMNS, table: AREAS, headers }),
    warnings: told.length === 0 ? undefined : told,
    ...(counted.records !== undefined && { records: () => counted.records?.() ?? [] }),
    geoJson: () => areaFeatures(() => context),
  }
}

/** @param all  of which the alerts that supersede others are */
export function alertListAnswer(
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

const SUMMARIES = {
  columns: columnsOf(AlertListSchema.properties.Results.items),
  rows: ({ Results = [] }: Row) => Results as readonly Row[],
}
