/**
 * GetAlertChangesRequest: recipients that an alert adds, recipients that it leaves out, and those that stay.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import type { Answer } from '../../format/answer.js'
import { warningHeaders } from '../../format/warning-headers.js'
import {
  type AlertChanges,
  AlertChangesRequestSchema,
  AlertChangesSchema,
} from '../../interface/alerts.js'
import { bind } from '../../interface/bind.js'
import type { MapContext } from '../../interface/context.js'
import type { UnknownMembers } from '../../interface/unknown-members.js'
import { refuseScope } from '../../selection/access.js'
import type { CurrentService } from '../../selection/answer.js'
import { selectDifferences } from '../../selection/differences.js'
import { checkFreshness } from '../../selection/freshness.js'
import { rowCountOf } from '../../selection/list.js'
import type { JsonObject } from '../../selection/parse.js'
import { Remarks } from '../../selection/remarks.js'
import { shapesRecord } from '../../selection/shapes-record.js'
import { recipientAnswer } from '../../selection/stream.js'
import { type Query, validate } from '../../selection/validate.js'
import type { Store } from '../../store/store.js'
import { noSuchContext } from '../contexts.js'
import { columnsOf, documentAnswer, tableOf } from '../document-answer.js'
import type { Execute } from '../execute.js'
import { type KeptAlert, keptAlert, referenceTo, referredTo, supersedersOf } from './kept-alerts.js'

interface AlertChangeOptions {
  readonly store: Store
  readonly current: CurrentService
  readonly unknownMembers?: UnknownMembers | undefined
}

export function alertChangeOperations({ store, current, unknownMembers }: AlertChangeOptions): {
  GetAlertChangesRequest: Execute
} {
  /** The recipients of an alert; a Cancel has none. */
  function queryOf({ id, alert }: KeptAlert, sources: unknown): Query {
    const stored = alert.msgType === 'Cancel' ? undefined : store.context(id)
    if (stored === undefined && alert.msgType !== 'Cancel') throw noSuchContext()
    const { Areas = [] } = JSON.parse(
      stored === undefined ? '{}' : Buffer.from(stored.json).toString(),
    ) as MapContext
    const features = Areas.flatMap(({ Drawing }) => (Drawing as { features: object[] }).features)
    return validate({ geoJSON: { type: 'FeatureCollection', features }, sources } as JsonObject)
  }

  return {
    async GetAlertChangesRequest(request, caller) {
      const remarks = new Remarks(unknownMembers)
      const bound = bind(AlertChangesRequestSchema, request, remarks.onUnknown)
      const { Identifier, sender, since, sinceSender, part, sources } = bound
      const { countsOnly = false } = bound
      const isList = part !== undefined && !countsOnly
      refuseScope(caller, !isList)
      if (Identifier === undefined) fail('is missing', 'Identifier')
      if (since === undefined && sinceSender !== undefined) {
        fail('is the sender of the alert of since: name that alert', 'sinceSender')
      }
      if (part === undefined && countsOnly) {
        fail('is for a part; without one, the answer has counts alone', 'countsOnly')
      }
      const alert = keptAlert(store, Identifier, sender, OWN_FIELDS)
      const before =
        since === undefined
          ? referredToBy(store, alert, remarks)
          : [keptAlert(store, since, sinceSender, SINCE_FIELDS)]
      const service = current.hold(caller)
      checkFreshness(service.freshness, isList, remarks)
      const queries = {
        before: before.map((each) => queryOf(each, sources)),
        after: queryOf(alert, sources),
      }
      if (isList) caller.access.lists?.begin(caller)
      const { parts, shapes } = await selectDifferences(service, queries, caller)
      if (part === undefined) {
        const counts = { alert, before, parts, shapes, service, remarks }
        return countsAnswer(counts)
      }
      const selections = parts[part]
      if (isList) caller.access.lists?.take(rowCountOf(selections))
      const listing = {
        selections: countsOnly ? selections.map((each) => ({ ...each, shards: [] })) : selections,
        isPage: false,
        next: undefined,
      }
      return recipientAnswer(service, { countsOnly, remarks, shapes }, listing, caller)
    },
  }
}

const OWN_FIELDS = { identifier: 'Identifier', sender: 'sender' } as const
const SINCE_FIELDS = { identifier: 'since', sender: 'sinceSender' } as const

/**
 * The kept alerts that an alert supersedes. An Update may name all alerts before it, so alerts that others of them
 * supersede are left out.
 *
 * @throws ServiceError  InvalidRequest, if no such alert is kept
 */
function referredToBy(store: Store, { alert }: KeptAlert, remarks: Remarks): readonly KeptAlert[] {
  const { references = [] } = alert
  const kept = new Map<string, KeptAlert>()
  let missingCount = 0
  for (const reference of references) {
    const found = referredTo(store, reference)
    if (found === undefined) missingCount++
    else kept.set(found.id, found)
  }
  if (kept.size === 0) {
    fail('is missing: no alert that this one refers to is kept here, so name one', 'since')
  }
  if (missingCount > 0) {
    const problem = `${missingCount} of ${references.length} alerts that it refers to are not kept here, and count as nobody`
    remarks.add('ReferenceNotKept', problem, 'since')
  }
  const all = [...kept.values()]
  const last = all.filter((each) => supersedersOf(each, all).length === 0)
  // They may refer to each other.
  return last.length === 0 ? all : last
}

interface ChangeCounts extends Awaited<ReturnType<typeof selectDifferences>> {
  readonly alert: KeptAlert
  readonly before: readonly KeptAlert[]
  readonly service: CurrentService['newest']['service']
  readonly remarks: Remarks
}

function countsAnswer({ alert, before, parts, shapes, service, remarks }: ChangeCounts): Answer {
  const { snapshotId, sequence } = service.catalogue
  const { warnings } = remarks
  const records = parts.new.map(({ source, count }, at) => ({
    SourceId: source.id,
    Label: source.label,
    NewCount: count,
    GoneCount: parts.gone[at].count,
    StayingCount: parts.staying[at].count,
  }))
  const document: AlertChanges = {
    Identifier: alert.alert.identifier,
    Since: before.map((each) => referenceTo(each.alert)),
    SourceRecords: records,
    ...(warnings !== undefined && { Warnings: [...warnings] }),
  }
  const sources = records.map(({ SourceId: id, NewCount, GoneCount, StayingCount }) => ({
    id,
    count: NewCount + GoneCount + StayingCount,
  }))
  return {
    ...documentAnswer({
      json: Buffer.from(JSON.stringify(document)),
      columns: COLUMNS,
      table: RECORDS,
      headers: {
        'X-Snapshot': snapshotId,
        'X-Sequence': String(sequence),
        'Cache-Control': 'no-store',
        ...warningHeaders(warnings),
      },
    }),
    warnings,
    records: () => [
      {
        facts: () => ({
          snapshotId,
          changesSequence: sequence,
          shapes: shapesRecord(shapes),
          sources,
        }),
      },
    ],
  }
}

function fail(problem: string, field: string): never {
  throw new ServiceError('InvalidRequest', `${field} ${problem}`, field)
}

/** Warnings have a header. */
const COLUMNS = columnsOf(AlertChangesSchema).filter((name) => name !== 'Warnings')

const RECORDS = tableOf('SourceRecords', [
  'SourceId',
  'Label',
  'NewCount',
  'GoneCount',
  'StayingCount',
])
