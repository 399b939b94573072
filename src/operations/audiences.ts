/**
 * The operations on audiences: selections that are frozen.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { Audiences } from '../audiences/audiences.js'
import type { AudienceAsker, AudienceFacts } from '../audiences/messages.js'
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
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
import type { Access } from '../selection/access.js'
import { type CurrentService, selectForList } from '../selection/answer.js'
import { type Catalogue, isDelta } from '../selection/catalogue.js'
import { checkFreshness } from '../selection/freshness.js'
import type { ShardRuns, SourceSelection } from '../selection/merge.js'
import { type JsonObject, member } from '../selection/parse.js'
import { Remarks } from '../selection/remarks.js'
import { refuseOthers } from '../selection/request-members.js'
import { parseGuid } from '../store/guid.js'
import { audienceList } from './audience-list.js'
import { DeltaRowsFetcher, type SelectedDelta } from './delta-rows.js'
import { columnsOf, documentAnswer, type Row } from './document-answer.js'
import type { Execute } from './execute.js'
import { withWarnings } from './with-warnings.js'

interface AudienceOperationsOptions {
  readonly audiences: Audiences
  readonly current: CurrentService
  /** Up to which change to the suppression lists everybody is marked from whom selections are made, at least. */
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
      // Before the selection: whoever is suppressed from now on is looked for when the audience is read.
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

/** Who is selected in shards of the snapshot, by their index there, and who came since. */
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

/** The members of the selection alone, and how long it is to stay. */
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
 * Whoever may do everything, and list everybody, may use the audiences of others: `admin` without a
 * boundary, and everybody where no key is asked for.
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

/** As CSV, one row. */
function documentOf(document: AudienceDocument): Answer {
  const columns = columnsOf(AudienceSchema)
  return answerOf(document, columns, { columns, rows: (row: Row) => [row] })
}

/** As CSV, one row an audience. */
function listOf(documents: readonly AudienceDocument[]): Answer {
  const table = {
    columns: columnsOf(AudienceListSchema.properties.Results.items),
    rows: ({ Results = [] }: Row) => Results as readonly Row[],
  }
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
