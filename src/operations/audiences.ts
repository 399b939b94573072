/**
 * The operations on audiences: selections that are frozen.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { Audiences } from '../audiences/audiences.js'
import type {
  AudienceAsker,
  AudienceFacts,
  OpenedAudience,
  OpenedShard,
} from '../audiences/messages.js'
import { ServiceError } from '../errors.js'
import type { Answer, Body } from '../format/answer.js'
import { CSV_RECORD_HEADER, frames, type ListLayout, withMembers } from '../format/recipients.js'
import { warningHeaders } from '../format/warning-headers.js'
import {
  type AudienceDocument,
  AudienceIdSchema,
  AudienceListSchema,
  AudiencePageSchema,
  AudienceRequestSchema,
  AudienceSchema,
} from '../interface/audiences.js'
import { bind } from '../interface/bind.js'
import { NothingSchema } from '../interface/members.js'
import { wholeNumber } from '../interface/quoted.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { Caller, QueryRunner, Task, TaskResults } from '../pool/tasks.js'
import type { Access, Asker } from '../selection/access.js'
import { type CurrentService, selectForList } from '../selection/answer.js'
import { type Catalogue, isDelta } from '../selection/catalogue.js'
import { checkFreshness } from '../selection/freshness.js'
import { List, rowCountOf } from '../selection/list.js'
import type { ShardRuns, SourceSelection } from '../selection/merge.js'
import { type JsonObject, member } from '../selection/parse.js'
import { Remarks } from '../selection/remarks.js'
import { refuseOthers } from '../selection/request-members.js'
import { parseGuid } from '../store/documents.js'
import { DeltaRowsFetcher, type SelectedDelta } from './delta-rows.js'
import { columnsOf, documentAnswer, rowOf, tableOf, withWarnings } from './document-answer.js'
import type { Execute } from './execute.js'

interface AudienceOperationsOptions {
  readonly audiences: Audiences
  readonly current: CurrentService
  /** The change to the suppression lists up to which the served recipients are marked, at least. */
  readonly suppressionVersion: () => number
  readonly unknownMembers?: UnknownMembers | undefined
}

export function audienceOperations({
  audiences,
  current,
  suppressionVersion: markedVersion,
  unknownMembers,
}: AudienceOperationsOptions): {
  PostAudienceRequest: Execute
  GetAudiencesRequest: Execute
  GetAudienceRequest: Execute
  DeleteAudienceRequest: Execute
} {
  const deltaRows = new DeltaRowsFetcher()
  return {
    async PostAudienceRequest(request, caller) {
      audiences.admit(caller)
      const { selection, lifetimeSeconds } = freezing(request)
      // Before the selection: phones that are suppressed from now on are left out when the audience is read.
      const suppressionVersion = markedVersion()
      const service = current.hold(caller)
      const { selections, catalogue, remarks } = await selectForList(
        service,
        selection,
        MEMBERS,
        caller,
      )
      const { snapshotId, sequence } = catalogue
      const { shards, deltas } = partsOf(selections, catalogue)
      const facts = await deltaRows.use(service.runner, deltas, caller, (rows) =>
        audiences.ask<'freeze'>(
          {
            kind: 'freeze',
            snapshotId,
            sequence,
            sources: selections.map(({ source: { id, label } }) => ({ id, label })),
            shards,
            deltas: rows,
            suppressionVersion,
            lifetimeSeconds,
            asker: askerOf(caller.access),
          },
          caller,
        ),
      )
      caller.changed?.(recordOf(facts))
      return withWarnings(documentOf(documentFor(facts, remarks)), remarks)
    },
    async GetAudiencesRequest(request, caller) {
      audiences.admit(caller)
      bind(NothingSchema, request, new Remarks(unknownMembers).onUnknown)
      const found = await audiences.ask<'list'>(
        { kind: 'list', asker: askerOf(caller.access) },
        caller,
      )
      return listOf(found.map((facts) => documentFor(facts)))
    },
    async GetAudienceRequest(request, caller) {
      audiences.admit(caller)
      const remarks = new Remarks(unknownMembers)
      const { Id, limit, after = 0 } = bind(AudiencePageSchema, request, remarks.onUnknown)
      const id = idOf(Id)
      const { lists } = caller.access
      checkFreshness(current.newest.service.freshness, true, remarks)
      lists?.begin(caller)
      const asker = askerOf(caller.access)
      const most = limit ?? Number.POSITIVE_INFINITY
      const opened = await audiences.ask<'open'>(
        { kind: 'open', id, after, limit: most, asker },
        caller,
      )
      return audienceList({
        audiences,
        opened,
        isPage: limit !== undefined || after > 0,
        remarks,
        caller,
      })
    },
    async DeleteAudienceRequest(request, caller) {
      audiences.admit(caller)
      const { Id } = bind(AudienceIdSchema, request, new Remarks(unknownMembers).onUnknown)
      const id = idOf(Id)
      const asker = askerOf(caller.access)
      const facts = await audiences.ask<'remove'>({ kind: 'remove', id, asker }, caller)
      caller.changed?.(facts === undefined ? { audienceId: id } : recordOf(facts))
      return undefined
    },
  }
}

/** The selected recipients in shards of the snapshot, by their index there, and those that were added since. */
function partsOf(
  selections: readonly SourceSelection[],
  catalogue: Catalogue,
): { shards: readonly ShardRuns[]; deltas: readonly SelectedDelta[] } {
  const shards: ShardRuns[] = []
  const deltas: SelectedDelta[] = []
  for (const { shardIndex, runs } of selections.flatMap((selection) => selection.shards)) {
    if (runs.length === 0) continue
    const shard = catalogue.shards[shardIndex]
    if (isDelta(shard)) deltas.push({ sourceId: shard.sourceId, shardIndex, runs })
    else shards.push({ shardIndex: shard.placeId, runs })
  }
  return { shards, deltas }
}

/** The members of the selection, and the lifetime of the audience. */
function freezing(request: JsonObject): { selection: JsonObject; lifetimeSeconds: number } {
  const problem = 'an audience has everybody who is selected, and its list is read by pages'
  refuseOthers(request, ['countsOnly', 'limit', 'after', 'partial'], problem)
  const given = member(request, LIFETIME)
  const lifetimeSeconds =
    given === undefined || given === null
      ? limits.audienceLifetimeDefaultSeconds
      : wholeNumber(given, 'lifetimeSeconds', AudienceRequestSchema.properties.lifetimeSeconds)
  const others = Object.entries(request).filter(([name]) => name.toLowerCase() !== LIFETIME)
  return { selection: Object.fromEntries(others), lifetimeSeconds }
}

const LIFETIME = 'lifetimeseconds'
const MEMBERS = Object.keys(AudienceRequestSchema.properties)

function idOf(Id: string | undefined): string {
  const id = Id === undefined ? undefined : parseGuid(Id)
  if (id !== undefined) return id
  const problem = Id === undefined ? 'is missing' : 'is not 32 hexadecimal digits'
  throw new ServiceError('InvalidRequest', `Id ${problem}`, 'Id')
}

/**
 * A key with `admin` and without a boundary may use the audiences of others, and so may every client of a service
 * without keys.
 */
function askerOf(access: Access): AudienceAsker {
  const { boundary } = access
  return {
    keyName: access.keyName ?? null,
    boundaryDigest: boundary === undefined ? null : digestOf(boundary),
    isForAll: boundary === undefined && access.allows('admin'),
  }
}

function digestOf(boundary: object): string {
  const known = digests.get(boundary)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(JSON.stringify(boundary)).digest('hex')
  digests.set(boundary, digest)
  return digest
}

/** The same boundary is the same object. */
const digests = new WeakMap<object, string>()

function recordOf({ id, snapshotId, sequence, digest, recipientCount }: AudienceFacts) {
  return { audienceId: id, snapshotId, sequence, digest, recipientCount }
}

function documentFor(facts: AudienceFacts, remarks?: Pick<Remarks, 'warnings'>): AudienceDocument {
  return {
    Id: facts.id,
    Count: facts.recipientCount,
    Sources: facts.sources.map(({ id, label, recipientCount }) => ({
      SourceId: id,
      Label: label,
      Count: recipientCount,
    })),
    SnapshotId: facts.snapshotId,
    Sequence: facts.sequence,
    Digest: facts.digest,
    CreatedAt: new Date(facts.createdMs).toISOString(),
    ExpiresAt: new Date(facts.expiresMs).toISOString(),
    ...(remarks?.warnings !== undefined && { Warnings: [...remarks.warnings] }),
  }
}

function documentOf(document: AudienceDocument): Answer {
  const columns = columnsOf(AudienceSchema)
  return answerOf(document, columns, rowOf(columns))
}

function listOf(documents: readonly AudienceDocument[]): Answer {
  const table = tableOf('Results', columnsOf(AudienceListSchema.properties.Results.items))
  return answerOf({ Results: documents }, columnsOf(AudienceListSchema), table)
}

function answerOf(
  document: object,
  columns: readonly string[],
  table: Parameters<typeof documentAnswer>[0]['table'],
): Answer {
  const json = Buffer.from(JSON.stringify(document))
  return documentAnswer({ json, columns, table, headers: { 'Cache-Control': 'no-store' } })
}

interface AudienceListOptions {
  readonly audiences: Audiences
  readonly opened: OpenedAudience
  readonly isPage: boolean
  readonly remarks: Pick<Remarks, 'warnings'>
  readonly caller: Asker
}

/**
 * The list of an audience, in every format of lists.
 *
 * @throws TooManyRequests  where the key has no such list left
 */
function audienceList(options: AudienceListOptions): Answer {
  const { audiences, opened, isPage, remarks, caller } = options
  const { facts, next, suppressedCounts } = opened
  const selections = selectionsOf(opened)
  const rowCount = rowCountOf(selections)
  caller.access.lists?.take(rowCount)
  const runner = audienceRunner(audiences, opened.shards)
  const suppressedCount = suppressedCounts.reduce((sum, count) => sum + count, 0)
  const { warnings } = remarks
  const last = {
    NextAfter: next === undefined ? undefined : String(next),
    AudienceId: facts.id,
    Digest: facts.digest,
    SuppressedCount: suppressedCount,
    Warnings: warnings,
  }
  const write = (layout: ListLayout): Body => {
    const plain = frames[layout].list
    const hasRoom = layout === 'json' || layout === 'geojson'
    const frame = hasRoom ? withMembers(plain, last) : plain
    return new List(runner as QueryRunner, selections, layout, caller, frame)
  }
  const recorded = () => ({
    audienceId: facts.id,
    snapshotId: facts.snapshotId,
    changesSequence: facts.sequence,
    digest: facts.digest,
    sources: selections.map(({ source, count }) => ({ id: source.id, count })),
    suppressedCount,
    rowCount,
  })
  return {
    headers: {
      'X-Snapshot': facts.snapshotId,
      'X-Sequence': String(facts.sequence),
      'X-Audience': facts.id,
      'X-Audience-Digest': facts.digest,
      'X-Audience-Suppressed': String(suppressedCount),
      // Phones and positions of people: no cache may keep them.
      'Cache-Control': 'no-store',
      ...(next !== undefined && { 'X-Next-After': String(next) }),
      ...warningHeaders(warnings),
    },
    heldBytes: opened.shards.reduce((sum, { runs }) => sum + runs.byteLength, 0),
    warnings,
    isPage,
    isList: true,
    records: () => [{ facts: recorded }],
    json: () => write('json'),
    ndjson: () => write('ndjson'),
    geoJson: () => write('geojson'),
    csv: (layout) => write(layout),
    csvRecord: () => ({ header: CSV_RECORD_HEADER, row: write('record') }),
  }
}

/** The shards of a page are named by their position in it. */
function selectionsOf({ facts, suppressedCounts, shards }: OpenedAudience): SourceSelection[] {
  return facts.sources.map(({ id, label, recipientCount }, at) => ({
    source: { id, label },
    count: recipientCount - suppressedCounts[at],
    shards: shards.flatMap(({ sourceId, runs }, shardIndex) =>
      sourceId === id ? [{ shardIndex, runs }] : [],
    ),
  }))
}

/** @param shards  of the page; tasks name them by their position */
function audienceRunner(audiences: Audiences, shards: readonly OpenedShard[]): QueryRunner {
  const run = async (task: Task, caller: Caller): Promise<TaskResults[Task['kind']]> => {
    const isOfRows = task.kind === 'encode' || task.kind === 'rowBytes'
    if (!isOfRows || task.format.kind === 'binary') {
      throw new ServiceError('InternalError', 'an audience is not searched, and frozen once')
    }
    const { kind, shardIndex, runs, format } = task
    const order = { place: shards[shardIndex].place, runs, format }
    if (kind === 'rowBytes') return await audiences.ask({ kind, ...order }, caller)
    const rows = await audiences.ask({ kind, ...order }, caller)
    return { ...rows, release: () => {} }
  }
  return { run: run as QueryRunner['run'] }
}
